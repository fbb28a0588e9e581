#!/usr/bin/env node
// Runs the program of the package for this platform, which npm installs as an optional dependency.
"use strict";

const { spawnSync } = require("node:child_process");
const { constants } = require("node:os");
const path = require("node:path");

const platform = `convo-cli-${process.platform}-${process.arch}`;
let folder;
try {
  folder = path.dirname(require.resolve(`${platform}/package.json`));
} catch {
  console.error(`convo: ${platform}: package not installed\nhint: npm install ${platform}`);
  process.exit(69);
}
const program = path.join(folder, "bin", "convo");
const { status, signal, error } = spawnSync(program, process.argv.slice(2), { stdio: "inherit" });
if (error) {
  console.error(`convo: ${program}: ${error.message}`);
  process.exit(69);
}
process.exit(signal ? 128 + constants.signals[signal] : status);
