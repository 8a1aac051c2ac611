/** The platform of one machine in a process of its own: tells its parent how it is reached, stops when that lets go of it. */
import { startPlatform } from '../../src/local/platform.ts';

const platform = await startPlatform({
  home: process.argv[2]!,
  ports: { backend: 0, strategy: 0, dataCollection: 0 },
  concurrency: 1,
  logLevel: 'ERROR',
});
process.send?.(platform.info);
process.once('disconnect', () => platform.stop().finally(() => process.exit()));
