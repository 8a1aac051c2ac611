import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';

/** No row is nearly so long: what is longer is not what its name says, and must not fill the memory. */
export const MAX_ROW_LENGTH = 65_536;

/** The text of a file, piece by piece; unzipped when its name ends with `.gz`. */
export function textOf(path: string): AsyncIterable<string> {
  const bytes = createReadStream(path);
  if (!path.endsWith('.gz')) return bytes.setEncoding('utf8');
  const unzipped = createGunzip();
  // What fails is thrown where the text is read.
  pipeline(bytes, unzipped, () => {});
  return unzipped.setEncoding('utf8');
}
