import { ReadableStream, WritableStream, TransformStream } from "./lib/streams/mod.ts";
for (const C of [ReadableStream, WritableStream, TransformStream]) console.log(Reflect.ownKeys(new C()).length);
const s=new ReadableStream(); console.log(structuredClone(s,{transfer:[s]}));
const t=performance.now(); for(let i=0;i<1e6;i++) new WritableStream(); console.log((performance.now()-t)|0);
