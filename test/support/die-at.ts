/**
 * Loaded before a program (`--import`): the process kills itself when the file whose name ends in DIE_AT_FILE is written,
 * DIE_AT `half` while half of it is written, `named` when it has just got its name.
 */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const { DIE_AT, DIE_AT_FILE } = process.env;
const die = () => process.kill(process.pid, 'SIGKILL');
const rename = fs.renameSync;

fs.renameSync = (from, to) => {
  const meant = DIE_AT_FILE !== undefined && String(to).endsWith(DIE_AT_FILE);
  if (meant && DIE_AT === 'half') {
    fs.truncateSync(from, fs.statSync(from).size >> 1);
    die();
  }
  rename(from, to);
  if (meant && DIE_AT === 'named') die();
};
syncBuiltinESMExports();
