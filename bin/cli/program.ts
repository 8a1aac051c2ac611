import { Command, CommanderError, Help, Option } from 'commander';
import { VERSION } from '#runtime/version.ts';
import { errorText } from './client.ts';
import { UsageError } from './options.ts';

type AddCommands = (program: Command) => void;

interface Family {
  /** Heading in the help. */
  readonly group: string;
  readonly commands: readonly string[];
  readonly load: () => Promise<AddCommands>;
}

/** Commands by the module that defines and runs them, in the order of the help. */
export const FAMILIES: readonly Family[] = [
  {
    group: 'Platform',
    commands: ['init'],
    load: async () => (await import('./strategy/init.ts')).addInitCommand,
  },
  { group: 'Platform', commands: ['demo'], load: async () => (await import('./demo.ts')).addDemoCommand },
  { group: 'Platform', commands: ['start'], load: async () => (await import('./start.ts')).addStartCommand },
  {
    group: 'Backtests',
    commands: ['backtest', 'rerun', 'jobs'],
    load: async () => (await import('./backtest.ts')).addBacktestCommands,
  },
  {
    group: 'Backtests',
    commands: ['signals'],
    load: async () => (await import('./signals.ts')).addSignalsCommands,
  },
  {
    group: 'Backtests',
    commands: ['verify'],
    load: async () => (await import('./verify.ts')).addVerifyCommands,
  },
  {
    group: 'Backtests',
    commands: ['show', 'cancel', 'logs'],
    load: async () => (await import('./jobs.ts')).addJobCommands,
  },
  {
    group: 'Backtests',
    commands: ['trades', 'export', 'report', 'diff'],
    load: async () => (await import('./reports/results.ts')).addResultCommands,
  },
  {
    group: 'Backtests',
    commands: ['columns', 'why'],
    load: async () => (await import('./reports/columns.ts')).addReasonCommands,
  },
  {
    group: 'Strategies',
    commands: ['strategies', 'check', 'new', 'dev'],
    load: async () => (await import('./strategy/strategies.ts')).addStrategyCommands,
  },
  {
    group: 'Strategies',
    commands: ['ci'],
    load: async () => (await import('./ci/command.ts')).addCiCommand,
  },
  {
    group: 'Strategies',
    commands: ['hyperopt'],
    load: async () => (await import('./hyperopt/commands.ts')).addHyperoptCommands,
  },
  {
    group: 'Release',
    commands: ['register', 'stage', 'promote', 'rollback', 'stop'],
    load: async () => (await import('./registry/registry.ts')).addRegistryCommands,
  },
  {
    group: 'Release',
    commands: ['versions', 'compare', 'label'],
    load: async () => (await import('./registry/versions.ts')).addVersionCommands,
  },
  {
    group: 'Release',
    commands: ['approvals'],
    load: async () => (await import('./approvals.ts')).addApprovalCommands,
  },
  {
    group: 'Release',
    commands: ['challenge'],
    load: async () => (await import('./challenge/commands.ts')).addChallengeCommands,
  },
  {
    group: 'Data',
    commands: ['import', 'data', 'collect', 'collections', 'proxy'],
    load: async () => (await import('./data/data.ts')).addDataCommands,
  },
  {
    group: 'Platform',
    commands: ['preflight'],
    load: async () => (await import('./preflight/command.ts')).addPreflightCommand,
  },
  {
    group: 'Platform',
    commands: ['events'],
    load: async () => (await import('./events.ts')).addEventsCommand,
  },
  {
    group: 'Platform',
    commands: ['webhooks'],
    load: async () => (await import('./webhooks.ts')).addWebhookCommands,
  },
  { group: 'Platform', commands: ['mcp'], load: async () => (await import('./mcp.ts')).addMcpCommand },
  {
    group: 'Access',
    commands: ['share', 'transfer', 'keep', 'audit', 'erase-user'],
    load: async () => (await import('./access.ts')).addAccessCommands,
  },
  {
    group: 'Platform',
    commands: ['token', 'open'],
    load: async () => (await import('./tokens.ts')).addTokenCommands,
  },
  {
    group: 'Platform',
    commands: ['completion', '__complete'],
    load: async () => {
      const { addCompletionCommands } = await import('./completion.ts');
      return (program) => addCompletionCommands(program, () => createProgram(FAMILIES));
    },
  },
];

/** The modules of the commands that the arguments name. Loading all of them takes longer than most commands to run. */
function familiesOf(args: readonly string[]): readonly Family[] {
  if (['-V', '--version'].includes(args[0] ?? '')) return [];
  const named = FAMILIES.filter(({ commands }) => commands.some((name) => args.includes(name)));
  // Options of the program come first; their values are no commands.
  const first = args.find((each) => !each.startsWith('-') && !URL.canParse(each));
  const isCommand = named.some(({ commands }) => commands.some((name) => name === first));
  return isCommand ? named : FAMILIES;
}

/** Writes an error of commander as the errors of commands are written with `--json`. */
function writeJsonError(text: string, write: (line: string) => void): void {
  write(`${errorText(text.trim().replace(/^error: /, ''), { json: true })}\n`);
}

/** Commander would show the help of the parent for `touchstone nonsense --help`. */
function refuseUnknownCommand(command: Command): string {
  const [name] = command.args.filter((each) => each !== 'help');
  if (command.commands.length > 0 && name !== undefined && !name.startsWith('-')) {
    command.error(`error: unknown command '${name}'`);
  }
  return '';
}

/**
 * The commands of these families; each is defined in the file that runs it.
 *
 * @param json wrong arguments are reported as JSON
 */
export async function createProgram(families: readonly Family[], json = false): Promise<Command> {
  const program = new Command('touchstone')
    .description('Backtest, optimize and release trading strategies, locally or against deployed services')
    .option(
      '--url <url>',
      'backend service (default: the platform on this data folder, started if it is not running)',
    )
    .option('--strategy-url <url>', 'strategy service: registration, challenges, hyperopt; with --url')
    .addOption(
      new Option(
        '--session <name>',
        'session that submitted jobs count for as trials, such as monday (docs/overfitting.md)',
      ).env('TOUCHSTONE_SESSION'),
    )
    .option('--verbose', 'print the whole context of an error')
    .version(VERSION)
    .configureHelp({
      // Repeatable options start empty.
      optionDescription: (option) =>
        new Help().optionDescription(option).replace(/ ?\(default: (\[\]|\{\})\)/, ''),
    })
    .showHelpAfterError(json ? false : 'Run touchstone <command> --help for the arguments of a command.')
    .configureOutput(json ? { outputError: writeJsonError } : {})
    .addHelpText('beforeAll', ({ command }) => refuseUnknownCommand(command))
    .exitOverride();
  const adding = await Promise.all(families.map(async ({ group, load }) => [group, await load()] as const));
  for (const [group, add] of adding) {
    program.commandsGroup(`${group}:`);
    add(program);
  }
  return program;
}

/** Runs the command of this process. Exit codes: 2 for a usage error, 1 for a failure. */
export async function runProgram(): Promise<void> {
  const args = process.argv.slice(2);
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      // A platform loses the line of its log, on a full disk or without a reader, and goes on.
      if (args[0] === 'start') return;
      // A reader such as `head` closes the pipe when it has enough: the command ends with it.
      if (error.code === 'EPIPE') process.exit();
      throw error;
    });
  }
  await runCommand(args);
}

/** Runs a command in this process, and sets its exit code. */
export async function runCommand(args: readonly string[]): Promise<void> {
  const json = args.includes('--json');
  const program = await createProgram(familiesOf(args), json);
  try {
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) {
      // Commander has printed the error, the help or the version.
      process.exitCode = error.exitCode === 0 ? 0 : 2;
      return;
    }
    console.error(errorText(error, { verbose: program.opts<{ verbose?: boolean }>().verbose, json }));
    process.exitCode = error instanceof UsageError ? 2 : 1;
  }
}
