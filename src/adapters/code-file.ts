import { extname } from 'node:path';

/**
 * Address of a module next to the calling one, named without its suffix: sources are TypeScript, the package is JavaScript.
 * @param caller `import.meta.url` of the caller
 */
export const codeFile = (name: string, caller: string): URL => new URL(`${name}${extname(caller)}`, caller);
