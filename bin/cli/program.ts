import { Command, CommanderError, Help } from 'commander';
import { VERSION } from '#runtime/version.ts';
import { addAccessCommands } from './access.ts';
import { addBacktestCommands } from './backtest.ts';
import { addChallengeCommands } from './challenge/commands.ts';
import { errorText } from './client.ts';
import { addDataCommands } from './data.ts';
import { addEraseCommand } from './erase.ts';
import { addHyperoptCommands } from './hyperopt/commands.ts';
import { UsageError } from './options.ts';
import { addRegistryCommands } from './registry.ts';
import { addReportCommand } from './report.ts';
import { addStrategyCommands } from './strategies.ts';
import { addTokenCommands } from './tokens.ts';
import { addVersionCommands } from './versions.ts';

/** Every command; each is defined in the file that runs it. */
function createProgram(): Command {
  const program = new Command('touchstone')
    .description('Backtest, optimize and release trading strategies, locally or against deployed services')
    .option(
      '--url <url>',
      'backend service (default: the platform on this data folder, started if it is not running)',
    )
    .option('--strategy-url <url>', 'strategy service: registration, challenges, hyperopt; with --url')
    .option('--verbose', 'print the context of an error')
    .version(VERSION)
    .configureHelp({
      // Repeatable options start empty.
      optionDescription: (option) =>
        new Help().optionDescription(option).replace(/ ?\(default: (\[\]|\{\})\)/, ''),
    })
    .showHelpAfterError('Run touchstone <command> --help for the arguments of a command.')
    .exitOverride();
  addBacktestCommands(program);
  addReportCommand(program);
  addStrategyCommands(program);
  addHyperoptCommands(program);
  addRegistryCommands(program);
  addVersionCommands(program);
  addChallengeCommands(program);
  addDataCommands(program);
  addAccessCommands(program);
  addTokenCommands(program);
  addEraseCommand(program);
  return program;
}

/** Runs the command of this process. Exit codes: 2 for a usage error, 1 for a failure. */
export async function runProgram(): Promise<void> {
  // A reader such as `head` closes the pipe when it has enough: the command ends with it.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit();
    throw error;
  });
  const program = createProgram();
  let json = false;
  program.hook('preAction', (_, command) => {
    json = command.opts<{ json?: boolean }>().json === true;
  });
  try {
    await program.parseAsync();
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
