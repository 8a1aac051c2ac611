/** Writes the resource usage of its process to descriptor 3 at exit. CommonJS: Node loads its module loader and its TypeScript parser for others. */
'use strict';
const { writeSync } = require('node:fs');
// Strategy code gets another `process`.
const { resourceUsage } = process;

process.on('exit', () => {
  const { userCPUTime, systemCPUTime, maxRSS } = resourceUsage();
  writeSync(3, JSON.stringify({ cpuMs: (userCPUTime + systemCPUTime) / 1000, peakMb: maxRSS / 1024 }));
});
