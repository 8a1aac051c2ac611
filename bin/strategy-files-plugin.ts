import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Plugin } from 'esbuild';
import { sha256 } from '../src/adapters/ids.ts';

/** Puts the users' strategy files into the bundles: there `loadStrategyFiles` answers them from imports. */
export function strategyFilesPlugin(root: string): Plugin {
  const folder = join(root, 'strategies');
  return {
    name: 'strategy-files',
    setup(build) {
      build.onLoad({ filter: /[\\/]adapters[\\/]strategy-files\.ts$/ }, () => ({
        contents: bundledModule(folder),
        loader: 'ts',
        resolveDir: folder,
        watchDirs: [folder],
      }));
    },
  };
}

function bundledModule(folder: string): string {
  const files = readdirSync(folder)
    .filter((file) => file.endsWith('.ts'))
    .sort();
  const imports = files.map((file, i) => `import s${i} from ${JSON.stringify(`./${file}`)};`);
  const entries = files.map((file, i) => {
    const digest = sha256(readFileSync(join(folder, file)));
    return `{ file: ${JSON.stringify(file)}, definition: s${i}, digest: ${JSON.stringify(digest)} }`;
  });
  return `${imports.join('\n')}\nexport const loadStrategyFiles = async () => [${entries.join(', ')}];\n`;
}
