#!/usr/bin/env node
// Plain JavaScript that every Node can parse, so that an old one states the reason instead of a syntax error.
'use strict';

const version = process.versions.node;
if (Number.parseInt(version, 10) < 24) {
  console.error(
    `Touchstone needs Node 24 or later and this is Node ${version}: install it, or run npm i -D node@24 in this folder.`,
  );
  process.exit(1);
}
const { existsSync } = require('node:fs');
const { join } = require('node:path');
// A clone has the source; Node runs no TypeScript in an installed package.
const source = join(__dirname, 'touchstone.ts');
import(existsSync(source) ? './touchstone.ts' : '../dist/bin/touchstone.js');
