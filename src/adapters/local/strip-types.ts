/**
 * Program that removes the types of strategy sources: the paths come as a JSON array on standard input, the folder to write to
 * as argument. It evaluates no source.
 */
import { createHash, randomUUID } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { strippedEnd, strippedFile } from './stripped-file.ts';

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
    // Gone meanwhile, or a syntax error: the process that loads the source reports it.
    return;
  }
  const unfinished = join(stripped, randomUUID());
  writeFileSync(unfinished, code + strippedEnd(digest));
  renameSync(unfinished, join(stripped, strippedFile(digest)));
}
