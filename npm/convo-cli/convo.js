#!/usr/bin/env node
// Runs the program of the package for this platform, which npm installs as an optional dependency.
"use strict";

const { spawn } = require("node:child_process");
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
const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
// The launcher outlives a signal until the program has ended, so that its status is that of the program.
for (const signal of ["SIGHUP", "SIGINT", "SIGTERM"]) {
  process.on(signal, () => child.kill(signal));
}
child.on("error", (error) => {
  console.error(`convo: ${program}: ${error.message}`);
  process.exit(69);
});
child.on("exit", (status, signal) => process.exit(signal ? 128 + constants.signals[signal] : status));
