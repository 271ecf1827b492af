/**
 * The browsers that the page is opened in, each as far as the checks need it: Chromium and Firefox as their packages
 * drive them, WebKitGTK by WebDriver.
 *
 * @module
 */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, globSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import process from "node:process";
import { setTimeout as pause } from "node:timers/promises";
import type { Readable } from "node:stream";
import { launch } from "puppeteer-core";
import { noChromium, openBrowser } from "../e2e/chromium.ts";
import { freePort } from "../support/ports.ts";

/** A page in a browser. */
export interface OpenPage {
  /** The version that the browser reports. */
  readonly version: string;
  /** Errors and warnings of the console, and uncaught exceptions, as far as the browser reports them. */
  readonly complaints: readonly string[];
  readonly goto: (url: string) => Promise<void>;
  /** Calls a function there, which has nothing but its argument. */
  readonly call: <Argument, Result>(
    steps: (argument: Argument) => Result | Promise<Result>,
    argument: Argument,
  ) => Promise<Result>;
  readonly screenshot: (path: string) => Promise<void>;
  readonly close: () => Promise<void>;
}

/** A browser that may be there. */
export interface TestedBrowser {
  readonly name: string;
  /** The reason for a missing browser; false if it is installed. */
  readonly missing: string | false;
  /** Opens the browser, with a profile in the folder. */
  readonly open: (folder: string) => Promise<OpenPage>;
}

async function openChromium(folder: string): Promise<OpenPage> {
  const { page, complaints, close } = await openBrowser(folder);
  return {
    version: `Chromium ${page.context().browser()?.version() ?? ""}`,
    complaints,
    goto: async (url) => void await page.goto(url),
    call: (steps, argument) => page.evaluate(steps as never, argument) as never,
    screenshot: async (path) => void await page.screenshot({ path, fullPage: true }),
    close,
  };
}

const firefox = [process.env.FIREFOX, "/usr/bin/firefox-esr", "/usr/bin/firefox"].find((path) =>
  path !== undefined && existsSync(path)
);

async function openFirefox(folder: string): Promise<OpenPage> {
  const browser = await launch({
    browser: "firefox",
    executablePath: firefox!,
    userDataDir: folder,
    headless: true,
    timeout: 60_000,
  });
  const page = await browser.newPage();
  const complaints: string[] = [];
  page.on("console", (message) => {
    if (["error", "warn"].includes(message.type())) complaints.push(message.text());
  });
  page.on("pageerror", (error) => void complaints.push(String(error)));
  return {
    version: (await browser.version()).replace(/^firefox\//, "Firefox "),
    complaints,
    goto: async (url) => void await page.goto(url),
    call: (steps, argument) => page.evaluate(steps as never, argument as never) as never,
    screenshot: async (path) => void await page.screenshot({ path: path as `${string}.png`, fullPage: true }),
    close: () => browser.close(),
  };
}

const driver = "/usr/bin/WebKitWebDriver";
const [miniBrowser] = globSync("/usr/lib/*/webkit2gtk-4.*/MiniBrowser");
const xvfb = "/usr/bin/Xvfb";

function missingOfWebKit(): string | false {
  if (!existsSync(driver) || miniBrowser === undefined) return "needs WebKitGTK and its WebDriver";
  return process.env.DISPLAY === undefined && !existsSync(xvfb) ? "needs a display, or Xvfb" : false;
}

/** Returns the number of a display that is there for a while. */
async function startDisplay(): Promise<{ display: string; server: ChildProcess }> {
  const server = spawn(xvfb, ["-displayfd", "3", "-screen", "0", "1280x1024x24", "-nolisten", "tcp"], {
    stdio: ["ignore", "ignore", "ignore", "pipe"],
  });
  let number = "";
  for await (const chunk of server.stdio[3] as Readable) {
    number += chunk;
    if (number.endsWith("\n")) break;
  }
  return { display: `:${number.trim()}`, server };
}

/** @see {@link https://www.w3.org/TR/webdriver2/} */
async function openWebKit(): Promise<OpenPage> {
  const started: ChildProcess[] = [];
  const env: NodeJS.ProcessEnv = { ...process.env, WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: "1" }; // for root
  if (env.DISPLAY === undefined) {
    const { display, server } = await startDisplay();
    started.push(server);
    env.DISPLAY = display;
  }
  const port = await freePort();
  started.push(spawn(driver, [`--port=${port}`, "--host=127.0.0.1"], { env, stdio: "ignore" }));
  const ask = async (method: string, path: string, body?: object): Promise<unknown> => {
    const init = { method, ...(body && { body: JSON.stringify(body) }), signal: AbortSignal.timeout(180_000) };
    const response = await fetch(`http://127.0.0.1:${port}/session${path}`, init);
    const { value } = await response.json();
    if (!response.ok) throw new Error(`${method} ${path}: ${value.message}`);
    return value;
  };
  const options = { binary: miniBrowser, args: ["--automation"] };
  const wanted = {
    capabilities: { alwaysMatch: { "webkitgtk:browserOptions": options, "timeouts": { script: 150_000 } } },
  };
  try {
    const { sessionId, capabilities } = await untilAnswered(() => ask("POST", "", wanted)) as Session;
    return {
      version: `WebKitGTK ${capabilities.browserVersion}`,
      complaints: [],
      goto: async (url) => void await ask("POST", `/${sessionId}/url`, { url }),
      call: async (steps, argument) => {
        const script = `const [argument, done] = arguments;
          Promise.resolve(argument).then(${steps}).then((value) => done({ value }), (error) => done({ error: String(error) }));`;
        const outcome = await ask("POST", `/${sessionId}/execute/async`, { script, args: [argument] });
        const { value, error } = outcome as { value?: unknown; error?: string };
        if (error !== undefined) throw new Error(error);
        return value as never;
      },
      screenshot: async (path) => {
        const picture = await ask("GET", `/${sessionId}/screenshot`) as string;
        await writeFile(path, picture, "base64");
      },
      close: async () => {
        await ask("DELETE", `/${sessionId}`);
        await end(started);
      },
    };
  } catch (error) {
    await end(started);
    throw error;
  }
}

interface Session {
  readonly sessionId: string;
  readonly capabilities: { readonly browserVersion: string };
}

/** Repeats a request until the driver listens. */
async function untilAnswered<T>(ask: () => Promise<T>): Promise<T> {
  for (let tries = 1;; tries++) {
    try {
      return await ask();
    } catch (error) {
      if (tries === 100 || !(error instanceof TypeError)) throw error;
      await pause(100);
    }
  }
}

async function end(processes: readonly ChildProcess[]): Promise<void> {
  await Promise.all(
    processes.toReversed().map((each) =>
      new Promise((ended) => {
        each.once("exit", ended);
        if (!each.kill()) ended(undefined);
      })
    ),
  );
}

/** All that the page is checked in. */
export const browsers: readonly TestedBrowser[] = [
  { name: "Chromium", missing: noChromium, open: openChromium },
  { name: "Firefox", missing: firefox === undefined && "needs Firefox", open: openFirefox },
  { name: "WebKitGTK", missing: missingOfWebKit(), open: openWebKit },
];
