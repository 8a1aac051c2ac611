/** Runs Touchstone in local mode: `npm start`. With `-- --auth` every call needs a token, as in production. */
import { parseArgs } from 'node:util';
import { keepCompiled } from './compile-cache.ts';

keepCompiled();
// Node's default handler would open a debugger port for every account of the machine.
process.on('SIGUSR1', () => {});
const { LocalEnv } = await import('#contract/env.ts');
const { readEnv } = await import('#runtime/env.ts');
const { startPlatform } = await import('../src/local/platform.ts');
const { platformOptions } = await import('../src/local/platform-options.ts');
const { Dashboard } = await import('./dashboard.ts');

try {
  const { values } = parseArgs({ options: { auth: { type: 'boolean', default: false } } });
  const env = readEnv(LocalEnv);
  const options = platformOptions(env);
  const auth = values.auth || options.auth;
  const dashboard = new Dashboard();
  const platform = await startPlatform({ ...options, auth, dashboard: dashboard.state });
  // Registered before the addresses are printed, because the reader may stop the platform immediately.
  const stop = new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, resolve);
  });
  // Only now: a build takes the processor from what starts.
  const opened = dashboard.open();
  const { info } = platform;
  console.log(
    `Touchstone is running: data folder ${env.TOUCHSTONE_HOME}, exchange ${info.exchange}. Ctrl-C stops it.`,
  );
  console.log(`  dashboard        ${info.backend_url}`);
  console.log(`  backend          ${info.backend_url}/docs`);
  console.log(`  strategy         ${info.strategy_service_url}/docs`);
  console.log(`  data collection  ${info.data_collection_url}/docs`);
  if (auth) {
    console.log(
      'Every call needs a token: export TOUCHSTONE_TOKEN=$(npx touchstone token --role researcher)',
    );
  }
  void opened.then((state) => {
    if (state.status === 'failed') console.error(`The dashboard could not be built: ${state.reason}`);
  });
  await Promise.race([stop, platform.failed]).finally(() => Promise.all([platform.stop(), dashboard.stop()]));
  process.exit(0);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}
