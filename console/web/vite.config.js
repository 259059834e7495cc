// Three files with fixed names, for the server embeds them by name; nothing is fetched at run time.
import { defineConfig } from 'vite'

export default defineConfig({
  base: './',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    target: 'es2022',
    modulePreload: false,
    assetsInlineLimit: 0,
    emptyOutDir: false,
    rollupOptions: {
      output: {
        entryFileNames: 'app.js',
        assetFileNames: 'app[extname]',
        codeSplitting: false,
        postBanner: '/*! With preact and @preact/signals, MIT: see console/NOTICE */',
      },
    },
  },
})
