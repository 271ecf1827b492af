import { precompress } from "@millrace/streams/vite";
import { defineConfig } from "vite";

export default defineConfig({ plugins: [precompress()] });
