import { defineConfig } from "vite";

/**
 * Makes the built page one file: script and style go into the document, in the place where vite would link them.
 * The build fails where anything is left that a browser would have to fetch.
 */
function oneFile() {
  return {
    name: "one-file",
    enforce: "post",
    generateBundle(_, bundle) {
      const page = Object.values(bundle).find((part) => part.fileName.endsWith(".html"));
      let html = String(page.source).replace(/<link rel="modulepreload"[^>]*>\s*/g, "");
      for (const part of Object.values(bundle)) {
        if (part === page) continue;
        const name = part.fileName.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
        if (part.type === "chunk") {
          const code = part.code.trim().replace(/<\/(script)/gi, "<\\/$1");
          html = html.replace(new RegExp(`<script[^>]*src="[^"]*${name}"[^>]*></script>\\s*`), "");
          html = html.replace("</body>", () => `<script type="module">${code}</script>\n</body>`);
        } else {
          const css = String(part.source).trim();
          html = html.replace(new RegExp(`<link[^>]*href="[^"]*${name}"[^>]*>`), () => `<style>${css}</style>`);
        }
        delete bundle[part.fileName];
      }
      if (/\s(src|href)="(?!#|data:)/.test(html)) this.error("the page would fetch something");
      if (html.split('"__ACE_REPORT__"').length !== 2) this.error("the page needs one slot for its data");
      page.source = html;
      page.fileName = "report.html";
    },
  };
}

export default defineConfig({
  base: "./",
  esbuild: { jsx: "automatic", jsxImportSource: "preact", legalComments: "none" },
  build: {
    target: ["chrome100", "firefox100", "safari15.4"],
    modulePreload: false,
    assetsInlineLimit: 1 << 20,
    reportCompressedSize: false,
    rollupOptions: { input: "report.html" },
  },
  plugins: [oneFile()],
});
