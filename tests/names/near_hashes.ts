/**
 * Ordinary names whose last part has as many characters as a hash: words, versions, sizes, formats, product numbers,
 * telephone numbers, ids. A heuristic that goes by the shape of one name alone takes many of them for hashed.
 */
export const nearHashes: Readonly<Record<string, readonly string[]>> = {
  "that end in a technical word": [
    ...ending("page", ".js", [
      ...["OAuth2v1", "OAuthApi", "UTF8Text", "MP4Video", "MP3Audio", "H264File", "X264File", "HTTP2Api", "IPv6Only"],
      ...["SHA256Of", "MD5Hash1", "Base64Js", "CSS3Grid", "ES2015v2", "WebGL2Fx", "WebGPUv1", "JSONApi2", "XMLFeed2"],
      ...["RSSFeed1", "PDFView2", "CSVTable", "HTMLtext", "utf8Size", "sha1Hash", "md5Sums1", "mp4Muxer", "h265Enc2"],
      ...["aes256cb", "rsa2048k", "x509Cert", "tls13Psk", "http3api", "ipv4only", "dns64map", "arm64v8a", "armv7l32"],
      ...["x86_64v3", "riscv64g", "amd64v3x", "i686pc32", "win32x64", "win64arm", "mac64arm", "linux386", "darwin64"],
      ...["android9", "iosArm64", "v1beta1x", "v2alpha1", "v10rc2b1", "r128beta", "es5mini1", "es2020js", "es2022a1"],
      ...["ie11only", "node18js", "bun1test", "deno2rc1", "i18nText", "l10nKeys", "a11yTest", "k8sNodes", "e2eTests"],
      ...["I18nEnUS", "L10nFrCA", "en_US_v2", "de_DE_v2", "zh_CN_01", "pt_BR_v3", "s3Upload", "RFC9110a", "ISO27001"],
    ]),
    ...ending("logo", ".png", [
      ...["MacBook1", "iPhone14", "iPhone15", "WiFi2024", "GPT4Mini", "PlayStn5", "VisionPr", "WatchUlt", "AirPods3"],
      ...["Light300", "Bold700i", "Thin100w", "Black900", "Oblique2", "Italic45", "SemiBd60", "Medium55", "Heavy850"],
      ...["Thumb400", "Small480", "Large960", "Wide1920", "HD1080px", "UHD2160p", "720p30fp", "DIN5008a", "ISO9001b"],
    ]),
  ],
  "that end in a version or a place": [
    ...ending("Plan", ".jpg", [
      ...["Q3Report", "Q4FY2024", "H1FY2025", "Jan24Rpt", "Dec2023a", "v2Final3", "Rev2024b", "Nov24Fin", "1stVisit"],
      ...["page0001", "Page0012", "slide123", "Slide12b", "img00042", "foto2023", "Scan0042", "Part03of", "S01E02v2"],
      ...["roomB204", "RoomB204", "FlatA101", "Bus100M1", "Tram12S5", "GleisA12", "A4Format", "A3Poster", "B5Format"],
    ]),
    ...ending("app", ".js", ["1.2.3-14-g2414721", "v1.2.3-3-gabc1234", "2414721", "2.0.0-beta.20240131", "2024.01.31"]),
    ...ending("lib", ".css", [
      "3.7.1",
      "1.12.4.min",
      "5.3.0-alpha1",
      "11.0.5",
      "1.0.0-rc.12",
      "r128",
      "1.2.3+2414721f",
    ]),
  ],
  "of products": [
    ...ending("product", ".webp", [
      "B0C1H26C46",
      "WH-1000XM5",
      "MX-Keys-S",
      "UA1234SF",
      "F16Block",
      "LX550T14",
      "WD40EFRX",
    ]),
    ...ending("part", ".png", ["SMG991B8", "RTX4090S", "EF2470L2", "ST4000DM", "LEGO7519", "NE555P1A", "DIN912M6"]),
  ],
  "with telephone numbers, times and ISBNs": [
    ...["user-", "call_", "book.", ""].flatMap((before) =>
      ["4915112345678", "15551234567", "4420794609", "33123456789", "9783161484100", "030640615X", "4006381333931"]
        .flatMap((number) => [`${before}${number}.jpg`, `${before}${number}.mp3`, `data-${before}${number}.js`])
    ),
    ...["photo-", "data."].flatMap((before) =>
      ["20240131", "31012024", "01312024", "19991231", "00000001", "10000042", "11111111", "12345678", "1700000000"]
        .flatMap((time) => [`${before}${time}.png`, `${before}${time}.js`, `${before}${time}.css`])
    ),
  ],
  "with ids": [
    ...["507f1f77bcf86cd799439011", "65b9f0c2a4e1d83b7c5f9a01", "550e8400-e29b-41d4-a716-446655440000"].flatMap(idsOf),
    ...["da39a3ee5e6b4b0d3255bfef95601890afd80709", "01ARZ3NDEKTSV4RRFFQ69G5FAV"].flatMap(idsOf),
    ...["cjld2cjxh0000qzrmn831i7rn", "1BxiMVs0XRA5nFMdKvBdBZjgmUUqptlbs74OgvE2upms"].flatMap(idsOf),
  ],
  "that end in an English word of eight letters": words(
    "adapters bindings builders callback commands compiler contexts controls datatype debugger decoders defaults " +
      "dispatch document elements encoders endpoint entities examples explorer fallback features flexible formdata " +
      "function generate geometry gradient handlers hardware headless homepage identity importer indexing infinity " +
      "iterator language launcher lifetime listener loadable location manifest matchers messages metadata mobility " +
      "modifier mutation navigate negative notebook notifier numbered observer operator optional ordering overflow " +
      "packages parallel patterns payments pipeline platform playback plotting pointers position powerful preserve " +
      "previews printing priority progress protocol provider readable receiver recorder redirect reducers register " +
      "renderer repeater reporter requests resolver resource response rotation schedule security selector sentinel " +
      "sequence services sessions settings snapshot sortable specific splitter standard starting strategy streamer " +
      "subtract suspense switches template terminal textarea throttle timeline timezone tokenize tooltips tracking " +
      "transfer triangle truncate validate variable vertical visitors warnings angebote leistung personen standort " +
      "vertrieb zeitplan partners research articles comments glossary handbook industry keyboard magazine networks " +
      "policies question referral universe webinars yearbook",
  ),
};

/**
 * Tails of ordinary names that are as random as hashes, or nearly: ids, colors, numbers of products. They cannot be
 * distinguished from hashes beside hashes of the same shape, in the folder that a build tool puts these in.
 */
export const randomTails: readonly string[] = [
  ...["aB3dE9xQ", "Zx81kQ2v", "k3x9p2qa", "V1StGXR8", "GKx8y2dW", "5f3a9c1e", "1a2b3c4d", "0d3b464c", "9f8e7d6c"],
  ...["ff00ff80", "3f9a1cff", "f0f8ff00", "00ff00ff", "c0ffee42", "8badf00d", "OLED55C3", "ESP32S3W", "ATMEGA32"],
  ...["BOEING73", "AB12CD34", "LH455MUC", "EOSR5mk2", "STM32F4x", "BMW320d1", "VWGolf8R", "AudiA4B9", "KTM390Rc"],
  ...["XR500v2B", "XPS13v93", "AppleM2x", "XboxOneX", "OpenAI4o", "C6Umschl", "4K60fpsA", "Zoom16x9", "v1p2p3b4"],
  ...["2ndDraft", "3rdDraft", "FY24Plan", "Wght400x", "Size12px", "Grid4x4x", "quicV1b1", "Bus100M1", "UA1234SF"],
  ...["LX550T14", "WD40EFRX", "SMG991B8", "RTX4090S", "NE555P1A", "OKTOBER7"],
];

/** Names with such tails. */
export const namesAsRandom: readonly string[] = [
  ...ending("avatar", ".jpg", randomTails),
  ...ending("product", ".webp", randomTails),
  ...randomTails.map((tail) => `photo_${tail}.png`),
  ...randomTails.map((tail) => `icon.${tail}.svg`),
];

function ending(before: string, extension: string, tails: readonly string[]): string[] {
  return tails.map((tail) => `${before}-${tail}${extension}`);
}

function idsOf(id: string): string[] {
  return [`${id}.png`, `${id}.js`, `user-${id}.jpg`, `photo_${id}.webp`, `avatar.${id}.png`, `widget-${id}.js`];
}

function words(list: string): string[] {
  return list.split(" ").flatMap((word) => {
    const capitalized = word.replace(/^./, (letter) => letter.toUpperCase());
    return [`page-${word}.js`, `Document-${capitalized}.js`, `card.${word}.css`, `logo-${capitalized}.svg`];
  });
}
