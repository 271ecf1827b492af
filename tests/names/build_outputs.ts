/** A build tool's output for a small project, with its default settings or those of its template. */
export interface BuildOutput {
  /** The files that have a hash in their names, with that in brackets. */
  readonly hashed: string;
  /** The files without a hash, or whose name stays the same when they change. */
  readonly stable: string;
  /** The files whose hash is not recognized: they are revalidated. Default: none. */
  readonly missed?: string;
}

/** The paths written by each tool, in the version given, separated by blanks. */
export const buildOutputs: Readonly<Record<string, BuildOutput>> = {
  "Vite 8.3": {
    hashed: "assets/About-[DFZ-Gvkc].css assets/About-[H9tN-z-I].js assets/Home-[B0URxVl7].js " +
      "assets/Home-[DWUDkj5s].css assets/Inter-[D5QgGSBe].woff2 assets/Settings-[Pyo8mo-t].js " +
      "assets/Settings-[TrCJQcGs].css assets/bg-[BlYvpPZb].jpg assets/hero-[E7CUn6gX].png assets/index-[BbuESAja].css " +
      "assets/index-[BuI5BPdA].js assets/logo-[CpycdVUz].svg assets/shared-[DXMSvzkG].js assets/worker-[D5Vpl3i7].js",
    stable: ".vite/manifest.json favicon.svg index.html robots.txt assets/index-BuI5BPdA.js.map",
  },
  "SvelteKit 3.2": {
    hashed: "_app/immutable/assets/0.[CB-klWAi].css _app/immutable/assets/2.[hr9fA_1H].css " +
      "_app/immutable/assets/Inter.[CqLBOWgv].woff2 _app/immutable/assets/logo.[CpycdVUz].svg " +
      "_app/immutable/chunks/[1r0nJD0k].js _app/immutable/chunks/[BA43fI9L].js _app/immutable/chunks/[mOhz2uPg].js " +
      "_app/immutable/entry/app.[pJPjcqIb].js _app/immutable/entry/start.[DuZ1HqY2].js " +
      "_app/immutable/nodes/0.[B51rrlxy].js _app/immutable/nodes/3.[1nN-Zj1b].js _app/immutable/workers/w-[Bhaejl8N].js",
    stable: "200.html _app/version.json about.html about/__data.json blog/one.html index.html robots.txt " +
      "service-worker.js .vite/manifest.json",
  },
  "Nuxt 4.5": {
    hashed: "_nuxt/[BPtmgqLb].js _nuxt/[C-FkNceK].js _nuxt/[C_Opn47Z].js _nuxt/[Dj53oQQZ].js _nuxt/[UPGecY43].js " +
      "_nuxt/Inter.[CqLBOWgv].woff2 _nuxt/Thing.[Dfe7hisp].css _nuxt/about.[CsJ8A9gu].css " +
      "_nuxt/builds/meta/[b7db7a7f-892e-4338-a2ff-f664b690e395].json _nuxt/entry.[C1QiVlZw].css " +
      "_nuxt/error-404.[Bb87HomL].css _nuxt/error-500.[Bwd7zAaE].css _nuxt/logo.[CpycdVUz].svg",
    stable: "200.html 404.html _nuxt/builds/latest.json _payload.json about/_payload.json about/index.html robots.txt",
  },
  "Next.js 16.4 with Turbopack, static export": {
    hashed: "_next/static/chunks/[038025f71h5n7].js _next/static/chunks/[0benyuqxzykdy].css " +
      "_next/static/chunks/[0waj0eebwisri].js _next/static/chunks/[1-wr2585okfeq].css " +
      "_next/static/chunks/[154_x185fw9v4].js _next/static/chunks/[2l720f3o4ha8c].js " +
      "_next/static/chunks/[35-e-h0sns-7f].js _next/static/chunks/turbopack-[2--o6v9q_ykjn].js " +
      "_next/static/chunks/turbopack-worker-[3u9zil6-2a08n].js _next/static/[ctDyZkdzy-yBIgyRZmBGJ]/_buildManifest.js " +
      "_next/static/[ctDyZkdzy-yBIgyRZmBGJ]/_clientMiddlewareManifest.js " +
      "_next/static/[ctDyZkdzy-yBIgyRZmBGJ]/_ssgManifest.js _next/static/media/Inter.[1x61wuib-85iz].woff2 " +
      "_next/static/media/logo.[03ui5w42mxcfc].svg _next/static/media/w.[16zviq0354nm5].js",
    stable: "404.html __next.__PAGE__.txt _not-found/__next._tree.txt about.html about.txt index.html index.txt " +
      "_next/static/chunks/054ebphufeoot.js.map robots.txt",
  },
  "Next.js 16.4 with webpack, static export": {
    hashed:
      "_next/static/[3QccjIXteMF4gRD-sZILA]/_buildManifest.js _next/static/[3QccjIXteMF4gRD-sZILA]/_ssgManifest.js " +
      "_next/static/chunks/230.[98352236e2c3c780].js _next/static/chunks/4bd1b696-[c29fcbad74eaf0af].js " +
      "_next/static/chunks/app/_not-found/page-[d49f4a975034002e].js _next/static/chunks/app/page-[a09a614d8916c02a].js " +
      "_next/static/chunks/framework-[e3cbde5644088364].js _next/static/chunks/pages/_app-[6f8a1fe6ee715472].js " +
      "_next/static/chunks/polyfills-[42372ed130431b0a].js _next/static/css/[1ec6a0a3b64a9638].css " +
      "_next/static/media/Inter.[87ea24ce].woff2 _next/static/media/logo.[0835fe9e].svg",
    stable: "404.html about.txt index.html old.html robots.txt _next/static/css/1ec6a0a3b64a9638.css.map",
  },
  "Astro 7.3": {
    hashed: "_astro/Counter.[DurFpJAQ].js _astro/Inter.[CqLBOWgv].woff2 " +
      "_astro/about.astro_astro_type_script_index_0_lang.[CxaiSbW_].js _astro/client.[Cd-EeyjT].js " +
      "_astro/hero.[CNosKGV4_Z1QhFgF].webp _astro/preview.[BhAweIvC_YnPcx].webp _astro/logo.[CpycdVUz].svg " +
      "_astro/x.[35ztL_Hc].js",
    stable: "about/index.html index.html favicon.svg",
  },
  "React Router 8.4": {
    hashed: "assets/Inter-[CqLBOWgv].woff2 assets/_index-[Bwnr9DZR].js assets/entry.client-[CHDPdmv3].js " +
      "assets/jsx-runtime-[N4dOpen0].js assets/root-[38jUMlGG].css assets/logo-[qs6m_MbK].svg assets/manifest-[58a69290].js " +
      "assets/root-[D4awNKMt].js assets/users._id-[Bwnr9DZR].js assets/x-[DtFeYo_o].css",
    stable: "index.html",
  },
  "Remix 2.17, classic compiler": {
    hashed: "build/_assets/Inter-[Q7VCJTV4].woff2 build/_assets/app-[O7BQI335].css build/_assets/logo-[BA275HWI].svg " +
      "build/_shared/chunk-[MFPRU5OA].js build/css-bundle-[A2QA75BZ].css build/entry.client-[IOPIZQCC].js " +
      "build/manifest-[1713F026].js build/root-[KP3SVQ2Q].js build/routes/_index-[Q6HUQK4R].js " +
      "build/routes/blog.$-[QMWRQJYM].js build/routes/users.$id-[GQ7T74DC].js",
    stable: "favicon.ico robots.txt",
  },
  "Angular 22.2": {
    hashed:
      "chunk-[8tdQsQK0].js chunk-[CT7xBBbl].js chunk-[brR1CQKt].js main-[UV53TY7I].js media/Inter-[Q7VCJTV4].woff2 " +
      "media/logo-[BA275HWI].svg polyfills-[QWJLBG44].js styles-[LFF2GJCY].css worker-[KGUPDSIO].js",
    stable: "favicon.ico index.html robots.txt ngsw-worker.js ngsw.json main-UV53TY7I.js.map",
  },
  "Parcel 2.16": {
    hashed: "Inter.[96132caa].woff2 hero.[746e2834].png lazy.[cbfd741a].js lazy.[ede5003f].css logo.[c9666b87].svg " +
      "parcel.[6711c986].css parcel.[fff4ca7c].js w.[0490b462].js",
    stable: "index.html site.webmanifest sw.js parcel.fff4ca7c.js.map",
  },
  "webpack 5.112": {
    hashed: "728.[90358f810a5ffcffa2f7].js [73503b2eee02dfc3a1d1].woff2 890.[07ba96052d3d1f7c682f].js " +
      "899.[5547f2fb6b952dc2dec1].css [fa2b90b69c180bef984f].svg main.[256a44ace1f3af145f92].js " +
      "main.[e77ab772833bebe9d1db].css named.[830f822a48f4f1dfd2f4].css",
    stable: "index.html main.256a44ace1f3af145f92.js.map",
  },
  "webpack 5.112, names of nothing but hashes": {
    hashed:
      "[273780f7bc9c503ef339].css [3f6c1ea21382131905d1].js [554c1f6699661b87600c].js [73503b2eee02dfc3a1d1].woff2 " +
      "[8568be8f4dab67cca686].js [fa2b90b69c180bef984f].svg",
    stable: "index.html",
  },
  "webpack 5.112, hashes in base64url": {
    hashed:
      "728-[cjUwrUxw6P4].js 890-[Ma-Bz2n6-kQ].js 899-[X42SGTVrVWk].js 899-[dwLo0FiZF-0].css main-[J3YAQ5tLijE].css " +
      "main-[vwrbcQeKFtk].js named-[hVBFQ3DF6CI].css",
    stable: "index.html",
    missed: "CDX-nshAFkM.svg h-okzrzNn9M.woff2",
  },
  "webpack 5.112, as in Create React App": {
    hashed: "static/css/899.[5547f2fb].css static/css/main.[0d3b464c].css static/css/named.[830f822a].css " +
      "static/js/728.[90358f81].js static/js/890.[07ba9605].js static/js/main.[ab632bf4].js " +
      "static/media/Inter.[73503b2eee02dfc3a1d1].woff2 static/media/logo.[fa2b90b69c180bef984f].svg",
    stable:
      "asset-manifest.json index.html logo192.png manifest.json robots.txt static/js/main.ab632bf4.js.LICENSE.txt",
  },
  "Gatsby 5": {
    hashed: "app-[426166597c215dcde739].js commons-[095679602a6e1870f198].js " +
      "component---src-pages-index-tsx-[a6d43c978e1949ea74f0].js styles.[5547f2fb6b952dc2dec1].css " +
      "webpack-runtime-[0e11ed03533eb43aa22d].js static/inter-[0ed060d7ce90f7467e1f54c780c8205e].woff2 " +
      "static/[9f4f671e8baaaf7ef0f8b71f746bc15f/1a2b3]/hero.webp static/logo-[db7ee179df4aca282ff034f0edfc5d83].svg",
    stable: "404.html chunk-map.json icons/icon-48x48.png index.html page-data/app-data.json " +
      "page-data/index/page-data.json static/photo.jpg webpack.stats.json " +
      "images/user-b6f04c58f3ac2e3501a3905ce656cb2c.png avatars/9f4f671e8baaaf7ef0f8b71f746bc15f/1a2b3/x.png",
  },
  "not Gatsby": {
    hashed: "app-[426166597c215dcde739].js vendor-[095679602a6e1870f198].js",
    stable: "index.html static/user-b6f04c58f3ac2e3501a3905ce656cb2c.png",
  },
  "esbuild 0.28, entries with hashes": {
    hashed: "Inter-[Q7VCJTV4].woff2 chunk-[MMMZXUCN].js lazy-[HZKMIHW3].css lazy-[RJKWV4HF].js lazy2-[AIIEKKYA].css " +
      "lazy2-[MSGMHLEO].js logo-[BA275HWI].svg main-[DAD532OA].css main-[UY7VZS7X].js",
    stable: "main-UY7VZS7X.js.map",
  },
  "esbuild 0.28": {
    hashed: "Inter-[Q7VCJTV4].woff2 chunk-[GR433JFT].js lazy-[B4OED7HH].css lazy-[IVHCBMUC].js lazy2-[C6VOXIYI].js " +
      "lazy2-[OA47W5RH].css logo-[BA275HWI].svg",
    stable: "main.css main.js",
  },
  "Bun 1.4": {
    hashed: "lazy-[0gj1d8ep].js lazy2-[1vyc4h3n].js lazy2-[rdpa5ehw].css logo-[bbqn629q].svg main-[997t6yn2].js " +
      "main-[akwkdr6b].css",
    stable: "index.html",
  },
  "Bun 1.4, a page": {
    hashed: "index-[9j8kj1x3].js",
    stable: "index.html index-9j8kj1x3.js.map",
  },
  "VitePress 1.6": {
    hashed: "assets/api-examples.md.[DRbm_rfj].js assets/api-examples.md.[DRbm_rfj].lean.js assets/app.[B5jhgCcp].js " +
      "assets/chunks/@localSearchIndexroot.[WVbtPbct].js assets/chunks/VPLocalSearchBox.[qSZDZEf7].js " +
      "assets/chunks/framework.[vLhlLNVn].js assets/chunks/theme.[D5SoGSuB].js assets/guide_start.md.[DqPUjUi2].js " +
      "assets/index.md.[BSCb7rHO].lean.js assets/inter-italic-cyrillic.[By2_1cv3].woff2 " +
      "assets/inter-roman-latin.[Di8DUHzh].woff2 assets/style.[BhX5jokk].css",
    stable: "404.html api-examples.html guide/overview.html hashmap.json index.html vp-icons.css",
  },
  "Docusaurus 3.10": {
    hashed: "assets/css/styles.[9df08bfb].css assets/js/0058b4c6.[f693e93c].js assets/js/17896441.[0181c882].js " +
      "assets/js/237.[cfcc2937].js assets/js/acecf23e.[35473018].js assets/js/main.[d44d952d].js " +
      "assets/js/runtime~main.[59e59c6f].js",
    stable: "assets/js/main.d44d952d.js.LICENSE.txt docs/intro/index.html index.html search-index.json sitemap.xml",
    missed: "assets/images/x-b19d19140c812ea487887b276eeefe46.png",
  },
};
