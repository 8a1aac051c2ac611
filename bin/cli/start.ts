import { resolve } from 'node:path';
import type { Command } from 'commander';
import { LocalEnv } from '#contract/env/env.ts';
import { SERVICES, TOUCHSTONE } from '#contract/values/names.ts';
import { readEnv } from '#runtime/env.ts';
import type { PlatformInfo } from '../../src/local/platform-info.ts';
import type { PlatformOptions } from '../../src/local/platform-options.ts';
import { integer, UsageError } from './options.ts';

type Ports = PlatformOptions['ports'];

/** Ports of the services: the field, the option without its dashes, the variable, the default. */
const PORTS = [
  ['backend', 'backend-port', 'BACKEND_PORT', SERVICES.backend],
  ['dataCollection', 'data-collection-port', 'DATA_COLLECTION_PORT', SERVICES.data_collection],
  ['strategy', 'strategy-port', 'STRATEGY_PORT', SERVICES.strategy],
] as const satisfies readonly (readonly [keyof Ports, ...unknown[]])[];

const MAX_PORT = 65_535;

export function addStartCommand(program: Command): void {
  const start = program
    .command('start')
    .description('run the platform on this data folder: services, dashboard and tasks (npm start)')
    .option('--auth', 'require a token for calls, as in production (see: touchstone token --help)')
    .option('--home <folder>', 'data folder (default: .touchstone; or TOUCHSTONE_HOME)')
    .option(
      '--exchange <key>',
      'exchange of jobs that name none, such as binanceusdm (default: sim; or DEFAULT_EXCHANGE)',
    );
  start.option('--json', 'print the addresses as one line of JSON');
  for (const [, option, variable, { title, port }] of PORTS) {
    start.option(
      `--${option} <port>`,
      `port of the ${title.replace('Touchstone ', '')}${variable === 'BACKEND_PORT' ? ' and the dashboard' : ''}; 0 selects a free one (default: ${port}; or ${variable})`,
      integer({ min: 0, max: MAX_PORT }),
    );
  }
  start.action(startLocal);
}

interface StartOptions {
  readonly json?: boolean;
  readonly auth?: boolean;
  readonly home?: string;
  readonly exchange?: string;
  readonly backendPort?: number;
  readonly dataCollectionPort?: number;
  readonly strategyPort?: number;
}

/** Runs the platform until a signal. */
async function startLocal(flags: StartOptions): Promise<void> {
  // Node's default handler would open a debugger port for every account of the machine.
  process.on('SIGUSR1', () => {});
  const { startPlatform } = await import('../../src/local/platform.ts');
  const { platformOptions } = await import('../../src/local/platform-options.ts');
  const { BundledTask } = await import('../build/bundled-task.ts');
  const { Dashboard } = await import('../build/dashboard.ts');
  const options = withFlags(platformOptions(readEnv(LocalEnv)), flags);
  requireDifferentPorts(options.ports);
  const [dashboard, task] = [new Dashboard(), new BundledTask()];
  const built = { dashboard: dashboard.state, bundledTask: task.file };
  const platform = await startPlatform({ ...options, ...built }).catch((error: unknown) => {
    throw withPortOption(error, options.ports);
  });
  // Registered before the addresses are printed, because the reader may stop the platform immediately.
  const stop = new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, resolve);
  });
  // Only now: a build takes the processor from what starts.
  const bundled = task.open();
  const opened = dashboard.open();
  const { info } = platform;
  if (flags.json) {
    const { exchange, backend_url, strategy_service_url, data_collection_url } = info;
    const home = resolve(options.home);
    console.log(JSON.stringify({ home, exchange, backend_url, strategy_service_url, data_collection_url }));
  } else printStart(info, options, flags);
  void opened.then((state) => {
    if (state.status === 'failed') console.error(`The dashboard could not be built: ${state.reason}`);
  });
  void bundled.then((failure) => {
    if (failure)
      console.error(`Backtests start slower, because their task could not be prepared: ${failure}`);
  });
  await Promise.race([stop, platform.failed]).finally(() =>
    Promise.all([platform.stop(), dashboard.stop(), task.stop()]),
  );
  process.exit(0);
}

function printStart(info: PlatformInfo, { home, auth }: PlatformOptions, flags: StartOptions): void {
  console.log(`Touchstone is running: data folder ${home}, exchange ${info.exchange}. Ctrl-C stops it.`);
  console.log(`  dashboard        ${info.backend_url}`);
  console.log(`  backend          ${info.backend_url}/docs`);
  console.log(`  strategy         ${info.strategy_service_url}/docs`);
  console.log(`  data collection  ${info.data_collection_url}/docs`);
  if (flags.home) console.log(`Commands find it with: export TOUCHSTONE_HOME=${home}`);
  if (auth) {
    console.log(`Calls need a token: export TOUCHSTONE_TOKEN=$(${TOUCHSTONE} token --role researcher)`);
  }
}

function withFlags(options: PlatformOptions, flags: StartOptions): PlatformOptions {
  const { auth, home, exchange } = flags;
  return {
    ...options,
    ...(auth && { auth }),
    ...(home && { home }),
    ...(exchange && { exchange }),
    ports: {
      backend: flags.backendPort ?? options.ports.backend,
      dataCollection: flags.dataCollectionPort ?? options.ports.dataCollection,
      strategy: flags.strategyPort ?? options.ports.strategy,
    },
  };
}

/** @throws UsageError for two services on one port, which the second would report as used by another process */
function requireDifferentPorts(ports: Ports): void {
  PORTS.forEach(([field, option, variable, { title }], index) => {
    const other = PORTS.slice(0, index).find(([each]) => ports[each] === ports[field]);
    if (!other || ports[field] === 0) return;
    throw new UsageError(
      `Port ${ports[field]} is that of the ${other[3].title} and of the ${title}. Choose another one with --${option} or ${variable}; 0 selects a free one.`,
    );
  });
}

/** Adds the option and the variable of a port that is in use. */
function withPortOption(error: unknown, ports: Ports): unknown {
  const cause =
    error instanceof Error ? (error.cause as { code?: string; port?: number } | undefined) : undefined;
  if (cause?.code !== 'EADDRINUSE') return error;
  const named = PORTS.find(([field]) => ports[field] === cause.port);
  if (!named) return error;
  const [, option, variable, { title }] = named;
  const free = cause.port! < MAX_PORT - 10 ? cause.port! + 10 : 0;
  return new Error(
    `Port ${cause.port} of the ${title} is in use. Stop the process that uses it, or choose another port: ` +
      `npm start -- --${option} ${free}, or ${variable}=${free}. 0 selects a free one.`,
    { cause: error },
  );
}
