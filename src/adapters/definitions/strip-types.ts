/**
 * Program that removes the types of strategy sources. Standard input is a JSON array of paths; the argument is the output
 * folder. It evaluates no source.
 */
import { createHash, randomUUID } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { strippedEnd, strippedFile } from '../processes/stripped-file.ts';

const [, , stripped] = process.argv as [string, string, string];
for (const path of JSON.parse(await text(process.stdin)) as string[]) strip(path);

function strip(path: string): void {
  let digest: string;
  let code: string;
  try {
    const source = readFileSync(path);
    digest = createHash('sha256').update(source).digest('hex');
    code = stripTypeScriptTypes(source.toString('utf8'));
  } catch {
    // The file was deleted, or it has a syntax error, which the process that loads it reports.
    return;
  }
  const unfinished = join(stripped, randomUUID());
  writeFileSync(unfinished, code + strippedEnd(digest));
  renameSync(unfinished, join(stripped, strippedFile(digest)));
}
