/** Runs the local platform in its own process. Sends its URLs to the parent process and stops when the parent disconnects. */
import { startPlatform } from '../../src/local/platform.ts';

const platform = await startPlatform({
  home: process.argv[2]!,
  ports: { backend: 0, strategy: 0, dataCollection: 0 },
  concurrency: 1,
  logLevel: 'ERROR',
});
process.send?.(platform.info);
process.once('disconnect', () => platform.stop().finally(() => process.exit()));
