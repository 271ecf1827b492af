/**
 * Names of files that hold no hash of their content, by what they are: as cameras, editors, content management systems,
 * package registries and people give them. Many look like hashes at first sight.
 */
export const ordinaryNames: Readonly<Record<string, readonly string[]>> = {
  "of cameras, phones and messengers": [
    ...each(["IMG_0042", "IMG_8675", "IMG-0042", "IMG20231201", "IMG_20231201_123456", "IMG-20231201-WA0012"], ".jpg"),
    ...each(["IMG_20240131_090512345", "IMG_20240131_090512345_HDR", "IMG_E0042", "MVIMG_20190817_114205"], ".jpg"),
    ...each(["DSC_0042", "DSC00042", "_DSC0042", "DSCF1234", "DSCN0042", "DSC_0042-2", "DSC_0042-Edit"], ".jpg"),
    ...each(["P1020304", "PA170042", "P_20180101_101112", "100_0042", "101-0042_IMG", "CIMG0042", "SAM_0042"], ".jpg"),
    ...each(["PXL_20231201_123456789", "PXL_20231201_123456789.MP", "PXL_20231201_123456789.NIGHT"], ".jpg"),
    ...each(["R0012345", "L1000042", "K5__1234", "_MG_0042", "3Y8A0042", "BM4I0042", "5D3_0042", "AB7C1234"], ".jpg"),
    ...each(["GOPR0042", "GX010042", "GH010042", "DJI_0042", "DJI_0042_D", "DJI_20240131120000_0001_D"], ".mp4"),
    ...each(["MVI_0042", "MOV_0042", "VID_20240131_090512", "VID-20240131-WA0007", "00042", "clip-00042"], ".mp4"),
    ...each(["photo_2024-01-31_09-05-12", "video_2024-01-31_09-05-12", "Screenshot_20240131-090512"], ".jpg"),
    ...each(["Screenshot 2024-01-31 at 09.05.12", "Bildschirmfoto 2024-01-31 um 09.05.12", "Screenshot-1"], ".png"),
    ...each(
      ["WhatsApp Image 2024-01-31 at 09.05.12", "FB_IMG_1700000000000", "Snapchat-1234567890", "signal-2024"],
      ".jpg",
    ),
    ...each(["scan0042", "Scan-20240131", "CamScanner-01-31-2024-09.05", "20240131_090512", "20240131090512"], ".jpg"),
    ...each(["received_1234567890123456", "image0", "image-12345678", "img12345678", "pic-00000042"], ".jpeg"),
  ],
  "of pictures with sizes": [
    ...cross(["photo", "hero", "team-photo", "banner", "thumb", "product"], "-", [
      ...["150x150", "300x225", "768x576", "1024x768", "1536x1152", "1920x1080", "2048x1536", "100x1000", "3840x2160"],
      ...["scaled", "1024w", "2x", "640px", "medium_large", "16x9", "square", "e1700000000000", "1-1024x683"],
    ], ".jpg"),
    ...cross(["icon", "favicon", "apple-touch-icon", "android-chrome", "mstile"], "-", [
      ...["16x16", "32x32", "180x180", "192x192", "512x512", "144x144", "310x150", "precomposed", "120x120"],
    ], ".png"),
    ...each(["1024x768", "1920x108", "128x1280", "photo.1024x768", "photo_1024x768", "photo-1024x768@2x"], ".png"),
    ...each(["s_1024x1024", "w_1200,h_630", "maxresdefault", "hqdefault", "og-image-1200x630"], ".jpg"),
  ],
  "of uploads and ids": [
    ...each(["507f1f77bcf86cd799439011", "65b9f0c2a4e1d83b7c5f9a01", "5f8d0d55b54764421b7156d9"], ".png"),
    ...each(["avatar-507f1f77bcf86cd799439011", "user_65b9f0c2a4e1d83b7c5f9a01", "p.5f8d0d55b54764421b7156d9"], ".jpg"),
    ...each(["550e8400-e29b-41d4-a716-446655440000", "f47ac10b-58cc-4372-a567-0e02b2c3d479"], ".jpg"),
    ...each(["photo-550e8400-e29b-41d4-a716-446655440000", "6ba7b810-9dad-11d1-80b4-00c04fd430c8-large"], ".webp"),
    ...each([
      "d41d8cd98f00b204e9800998ecf8427e",
      "205e460b479e2e5b48aec07710c08d50",
      "0bc83cb571cd1c50ba6f3e8a78ef1346",
    ], ""),
    ...each(["d41d8cd98f00b204e9800998ecf8427e", "205e460b479e2e5b48aec07710c08d50"], ".png", ".jpg"),
    ...each(
      ["da39a3ee5e6b4b0d3255bfef95601890afd80709", "01ARZ3NDEKTSV4RRFFQ69G5FAV", "V1StGXR8_Z5jdHi6B-myT"],
      ".png",
    ),
    ...each(["avatar-1a2b3c4d", "avatar-9f8e7d6c", "user-5f3a9c1e", "user.5f3a9c1e", "photo_0d3b464c12"], ".png"),
    ...each(
      ["thumbnail_photo_0d3b464c12", "large_hero_9a8b7c6d5e", "small_cat_1234567890", "medium_a_0f1e2d3c4b"],
      ".jpg",
    ),
    ...each(["photo-1506744038136-46273834b3fb", "pexels-photo-1234567", "pexels-jane-doe-12345678"], ".jpeg"),
    ...each(["AdobeStock_123456789", "shutterstock_12345678", "iStock-1234567890", "GettyImages-12345678"], ".jpg"),
    ...each(["jane-doe-AbCdEfGhIjK-unsplash", "john-smith-1a2B3c4D5e6-unsplash", "v1700000000-sample"], ".jpg"),
    ...each(["k3x9p2qa", "user-k3x9p2qa", "avatar-aB3dE9xQ", "post-Zx81kQ2v", "image_3fK9zQ1p", "dQw4w9WgXcQ"], ".jpg"),
    ...each(["1700000000", "1700000000000", "upload-1700000000000", "file-1700000000-123456789", "00000001"], ".png"),
    ...each(["order-10000042", "invoice-20240001", "ticket-12345678", "customer-00012345", "sku-40012345"], ".png"),
    ...each(
      ["tt0111161", "B00005N5PF", "978-3-16-148410-0", "9783161484100", "10.1000-xyz123", "ISBN9780306406157"],
      ".jpg",
    ),
  ],
  "of documents": [
    ...cross(["report", "Report", "minutes", "invoice", "slides"], "-", [
      ...["20240131", "2024-01-31", "2024Q3v2", "2024q3v2", "2024June", "Jan2024", "FY2024Q3", "v1.2", "v2_final"],
      ...["final-v2", "draft-03", "1a2b3c4d", "DiwrgTdA", "20240131T090512Z", "Q3-2024", "rev12345"],
    ], ".pdf"),
    ...each(
      ["thesis-final-FINAL", "cv_2024", "terms-20240101", "price-list-2024-07", "flyer_A4", "annual-2023"],
      ".pdf",
    ),
    ...each(
      ["contract-9f8e7d6c", "scan-B1946AC9", "letter.3f9a1c0b", "budget-2024v2"],
      ".pdf",
      ".docx",
      ".xlsx",
      ".odt",
    ),
    ...each(["data-3f9a1c0b", "export-20240131", "dump.1a2b3c4d", "feed-DiwrgTdA"], ".json", ".csv", ".xml", ".txt"),
    ...each(["README", "CHANGELOG-2024", "notes-cafe2024", "docs-OVERVIEW", "LICENSE-3f9a1c0b"], ".md", ".txt"),
    ...each(["site", "manifest", "app-3f9a1c0b", "manifest-DiwrgTdA"], ".webmanifest", ".json"),
  ],
  "of pages": [
    ...each(
      ["my-trip-1a2b3c4d", "post-3f9a1c0b", "index-DiwrgTdA", "chunk-5VQ3B7NA", "main.9c2d4e5f6a7b8c9d"],
      ".html",
    ),
    ...each(["about-BuI5BPdA", "507f1f77bcf86cd799439011", "d41d8cd98f00b204e9800998ecf8427e"], ".html", ".htm"),
    ...each(["my-page-2-columns-layout", "2024-01-31-my-post", "release-1.2.3", "page-overview", "index"], ".html"),
    ...each(["story-abcd1234", "how-to-build-2024", "p-12345678"], ".html", ".htm", ".xhtml", ".php"),
  ],
  "of releases": [
    ...each(
      ["app-win32x64", "app-win32-x64", "setup-x86_64", "tool-1.2.3-x64", "app-1a2b3c4d"],
      ".exe",
      ".msi",
      ".dmg",
    ),
    ...each(["v1.2.3-linux-amd64", "tool-v1.2.3-darwin-arm64", "node-v22.18.0-linux-x64", "src-3f9a1c0b"], ".tar.gz"),
    ...each(["app-1.2.3-14-g2414721", "lib-v2.0.0-3-gabc1234", "app-1.2.3-SNAPSHOT", "app-2.0.0-beta.20240131"], ".js"),
    ...each(["core-1.2.3-14-g2414721.min", "app-nightly-20240131", "lib-1_2_3_45", "lib-1.10.12345678"], ".js"),
    ...each(
      ["app-win32x64", "app-linux386", "app-darwin64", "app-arm64v8a", "app-x86_64v3", "app-riscv64x"],
      ".wasm",
      ".js",
    ),
    ...each(["libfoo-1.2.3", "libfoo.so.1.2.3", "foo_1.2.3-1_amd64", "foo-1.2.3-1.x86_64"], ".deb", ".rpm", ".zip"),
    ...each(["bundle-es2015v2", "main-es2022a1", "polyfill-es5minjs", "runtime-es2020js", "vendor-es2015.v2"], ".js"),
  ],
  "that end in a word of eight letters": [
    ...cross(["logo", "icon", "poster", "chart"], "-", [
      ...["Vertical", "Settings", "Download", "Calendar", "Facebook", "Dribbble", "Snapchat", "Platform", "Customer"],
      ...["DataView", "CheckBox", "DropDown", "OpenType", "LinkedIn", "GitHubMk", "PlayStor", "UserEdit", "MapRoute"],
      ...["VERTICAL", "SETTINGS", "SUMMER24", "OVERVIEW", "DOCUMENT", "CHRISTMA", "OKTOBER7", "STANDARD", "CAMPAIGN"],
      ...["vertical", "settings", "download", "calendar", "facebook", "sortable", "overview", "database", "payments"],
    ], ".svg"),
    ...cross(["page", "DropdownMenu", "module", "trait"], "-", [
      ...["overview", "CheckBox", "JavaScript", "settings", "StdFloat", "OsStrExt", "ToString", "DerefMut", "LowerHex"],
      ...["readInt8", "BigInt64", "ChaCha20", "toBase64", "isObject", "htmlText", "utf8Size", "maxWidth", "execPath"],
    ], ".js"),
    ...cross(["messages", "locale", "dayjs"], ".", [
      "zh-Hans",
      "pt-br",
      "sr-Latn",
      "en-US-x",
      "I18nEnUS",
      "L10nFrCA",
      "zh_CN_01",
    ], ".js"),
    ...each(
      ["_baseKeys", "_DataView", "_arrayMap", "_stackHas", "_nodeUtil", "_toSource", "_isMasked", "_reEscape"],
      ".js",
    ),
    ...each(
      ["atom-one-dark", "an-old-hope", "sh_vim-dark", "get-dep-spec", "with-temp-dir", "decode-data-xml"],
      ".js",
      ".css",
    ),
    ...each(["zoom-fit-best", "edit-undo-rtl", "go-next-rtl", "task-past-due", "address-book-new"], ".png"),
    ...each(
      ["app-settings", "app-overview", "main-overview", "index-settings", "chunk-overview", "style-standard"],
      ".js",
      ".css",
    ),
    ...each(["main-OVERVIEW", "index-CheckBox", "index-DataView", "app-Settings", "client-Platform"], ".js"),
  ],
  "of fonts": [
    ...cross(["Inter", "Roboto", "SourceSans3", "NotoSansJP"], "-", [
      ...["Regular", "SemiBold", "ExtraBold", "BoldItalic", "Light300", "Variable", "VariableFont_wght", "BlackIta"],
      ...["DemiBold", "Ultralig", "Condense", "latin-ext", "cyrillic", "700-normal", "Oblique2", "MediumIt"],
    ], ".woff2"),
    ...each(
      ["KaTeX_Main-Regular", "KaTeX_SansSerif-Italic", "fa-solid-900", "fa-brands-400", "bootstrap-icons"],
      ".woff2",
    ),
    ...each(
      ["open-sans-v17-latin-regular", "lato-v24-latin-700italic", "MaterialIcons-Regular", "slick"],
      ".woff2",
      ".ttf",
    ),
  ],
  "of packages and sources": [
    ...each(
      ["jquery-3.7.1.min", "jquery-3.7.1.slim.min", "bootstrap.bundle.min", "vue.global.prod", "d3.v7.min"],
      ".js",
    ),
    ...each(
      ["react-dom.production.min", "react-dom-client.production", "chart.umd", "three.module", "lodash.core"],
      ".js",
    ),
    ...each(
      ["bootstrap-5.3.0-alpha1", "bootstrap-grid.rtl.min", "normalize-8.0.1", "all-6.5.1.min", "tailwind"],
      ".css",
    ),
    ...each(["moment-with-locales", "swiper-bundle.min", "leaflet-src", "polyfills-es5", "runtime-es2015"], ".js"),
    ...each(["ReadableStream", "readable_stream", "text-line-stream", "index.d", "index.esm", "types.mjs"], ".js"),
    ...each(
      ["UserProfilePage", "useLocalStorage", "http2-client", "sha256-wasm", "md5-hash", "base64url", "utf8"],
      ".js",
    ),
    ...each(["webpack.config.prod", "vite.config", "eslint.config", "karma.conf", "rollup.config"], ".js", ".mjs"),
    ...each(["angular-sanitize-1.8.3", "ember-4.12.0", "prototype-1.7.3.0", "mootools-1.6.0", "yui-3.18.1"], ".js"),
    ...each(["sw", "service-worker", "serviceWorker", "ngsw-worker", "firebase-messaging-sw", "registerSW"], ".js"),
    ...each(["sw-3f9a1c0b", "service-worker.DiwrgTdA", "sw.9c2d4e5f6a7b8c9d", "OneSignalSDKWorker"], ".js"),
    ...each(
      ["app.js", "main.css", "index-BuI5BPdA.js", "main.3f9a1c0b.css", "chunk-5VQ3B7NA.js"],
      ".map",
      ".LICENSE.txt",
    ),
  ],
  "of libraries and vendors": [
    ...cross(["lodash", "jquery", "vue", "three", "d3", "axios", "moment", "leaflet", "chart", "video"], "-", [
      ...["1.0.0", "3.7.1.min", "2.29.4", "4.17.21.min", "v1.2.3", "1.10.0-rc.1", "latest", "slim.min", "esm-browser"],
      ...["2024.1.0", "5.0.0-beta.12", "r128", "20240131", "all.min", "legacy.min", "next", "core-3.2.1", "1_2_3_45"],
    ], ".js"),
    ...cross(["theme", "print", "editor", "widget", "normalize"], "-", [
      ...[
        "light",
        "dark-mode",
        "high-contrast",
        "v2",
        "2024",
        "rtl.min",
        "overview",
        "settings",
        "ie11only",
        "col-1234",
      ],
      ...["sm-1x2", "bootstrap5", "20240131", "tailwind", "standard"],
    ], ".css"),
    ...cross(["api", "guide", "blog", "docs"], "-", [
      ...["overview", "get-started", "v1beta1x", "2024-01-31", "chapter-12", "http2api", "oauth2v2", "ipv6only"],
      ...["x509cert", "utf8mb4x", "rfc9110a", "es2015v2", "h264mp4x", "base64js", "win32api", "arm64v8a"],
    ], ".js"),
    ...cross(
      ["map", "tile", "sprite", "texture", "level"],
      "_",
      [
        ...["12_2047_1362", "00012345", "0001_0002", "1K-JPG_Color", "NormalGL", "Diffuse2", "Roughness", "AOMap512"],
        ...["x0y12z03", "LOD0_001", "Top_Left", "2048x2048", "v003_final", "AmbientO", "Emissive"],
      ],
      ".png",
      ".webp",
    ),
    ...cross(
      ["flag", "emoji", "avatar", "badge"],
      "-",
      [
        ...[
          "1f468-200d-1f469",
          "1f1e9-1f1ea",
          "u1f600",
          "gb-eng",
          "000123",
          "level-42",
          "deadbeef",
          "c0ffee",
          "facade01",
        ],
        ...["1f9d1-1f3fb-200d", "2764-fe0f", "00a9", "user-42", "sm@2x", "12345678", "a1", "f0f8ff00"],
      ],
      ".svg",
      ".png",
    ),
    ...cross(
      ["episode", "track", "clip", "lesson"],
      "-",
      [
        ...[
          "s01e02",
          "01-intro",
          "20240131",
          "128kbps",
          "720p30fps",
          "1080p60x",
          "h264-aac",
          "part-001",
          "final-cut",
          "x264",
        ],
      ],
      ".mp4",
      ".mp3",
      ".webm",
    ),
  ],
  "of documentation": [
    ...each(["search_index", "search-index", "hashmap", "sitemap", "objects", "searchindex", "versions"], ".json"),
    ...each(
      ["searchindex", "documentation_options", "language_data", "sphinx_highlight", "doctools", "searchtools"],
      ".js",
    ),
    ...each(
      ["classes-Settings", "globals", "modules-overview", "hierarchy", "enum-DataKind", "interface-HttpOpts"],
      ".html",
    ),
    ...each(["navigation", "search", "main", "highlight", "custom", "icons"], ".js", ".css"),
    ...each(["structfoo_1_1Bar", "classfoo_1_1Settings", "group__overview", "md_docs_2overview"], ".html", ".js"),
  ],
};

/** Returns each of `names` with each of `endings`. */
function each(names: readonly string[], ...endings: readonly string[]): string[] {
  return names.flatMap((name) => endings.map((ending) => name + ending));
}

/** Returns each of `before` with each of `after`. */
function cross(
  before: readonly string[],
  separator: string,
  after: readonly string[],
  ...endings: readonly string[]
): string[] {
  return each(before.flatMap((name) => after.map((other) => name + separator + other)), ...endings);
}
