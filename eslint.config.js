import js from "@eslint/js";
import globals from "globals";

export default [
  {
    ignores: [
      "static/codemirror/codemirror.js",
      "static/echarts/",
      "static/graphviz/",
      "tests/browser/",
      ".venv/",
      "benchmarks/results/",
    ],
  },
  js.configs.recommended,
  {
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      eqeqeq: "error",
      "no-shadow": ["error", { builtinGlobals: false }],
      "no-var": "error",
      "prefer-const": "error",
      "no-implicit-coercion": "error",
      "no-unused-expressions": ["error", { allowShortCircuit: true }],
      "no-use-before-define": ["error", { functions: false, classes: false, variables: false }],
      "default-case-last": "error",
      "array-callback-return": "error",
      "no-self-compare": "error",
      "no-template-curly-in-string": "error",
      "no-unmodified-loop-condition": "error",
      "no-throw-literal": "error",
      "max-len": ["error", { code: 120 }],
    },
  },
  { files: ["static/**"], languageOptions: { globals: globals.browser } },
  { files: ["tests/js/**"], languageOptions: { globals: globals.node } },
];
