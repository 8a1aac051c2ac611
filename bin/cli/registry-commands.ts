import type { Command } from 'commander';
import { VERSION } from '#runtime/version.ts';
import { REASON, WAIVE } from './checks.ts';
import { compareVersions } from './compare.ts';
import { type PromoteOptions, promoteVersion } from './promote.ts';
import { type RegisterOptions, registerVersion } from './register.ts';
import { type RollbackOptions, rollBack } from './rollback.ts';
import { type Addresses, strategyAddress, withSession } from './session.ts';
import { type StageOptions, stageVersion } from './stage.ts';
import { figure } from './usage.ts';
import { printVersions, type VersionsOptions } from './versions.ts';

const collect = (value: string, previous: string[]) => [...previous, value];

/** The commands that register, move and compare versions of strategies. */
export function addRegistryCommands(program: Command): void {
  const url = () => program.opts<Addresses>().url;

  /** Where versions are registered. */
  const strategyUrl = () => strategyAddress(program.opts<Addresses>(), 'register');

  program
    .command('register')
    .description('register a completed backtest as the next version of its strategy')
    .argument('<strategy>', 'name of the strategy')
    .requiredOption('--run <job-id>', 'the backtest, bt-<id>')
    .option('--image <uri>', 'container image that runs it', `touchstone:${VERSION}`)
    .option('--description <text>', 'what is new about it')
    .option('--tag <tag>', 'repeat for more', collect, [])
    .option('--min-sharpe <n>', 'refuse below this Sharpe ratio', figure)
    .option('--min-profit-factor <n>', 'refuse below this profit factor', figure)
    .option('--max-drawdown <percent>', 'refuse above this drawdown', figure)
    .option('--skip-validation', 'register without comparing the thresholds; role admin')
    .action(async (strategy: string, options: RegisterOptions) => {
      process.exitCode = await withSession(
        strategyUrl(),
        ({ client }) => registerVersion(client, strategy, options),
        'strategy',
      );
    });

  program
    .command('stage')
    .description('stage a version: run its check list and move it from None to Staging')
    .argument('<model>', 'name of the strategy')
    .argument('<version>', 'a number, or latest')
    .option('--comment <text>', 'goes into the history')
    .option('--check', 'run the check list and change nothing')
    .option('--skip-validation', 'stage without the check list, not without the release policy; role admin')
    .option(...WAIVE)
    .option(...REASON)
    .option('--no-wait', 'return while checks that need a run are pending')
    .action(async (model: string, version: string, options: StageOptions) => {
      process.exitCode = await withSession(url(), ({ client }) =>
        stageVersion(client, model, version, options),
      );
    });

  program
    .command('promote')
    .description('promote a staged version to Production; the one that was there is archived')
    .argument('<model>', 'name of the strategy')
    .argument('<version>', 'a number, or latest')
    .option('--comment <text>', 'goes into the history')
    .option('--expect <version>', 'refuse unless this version is in Production now; none: no version')
    .option('--challenge <id>', 'the challenge that proved it')
    .option('--force', 'promote regardless of the validation, not of the release policy; role admin')
    .option(...WAIVE)
    .option(...REASON)
    .action(async (model: string, version: string, options: PromoteOptions) => {
      process.exitCode = await withSession(url(), ({ client }) =>
        promoteVersion(client, model, version, options),
      );
    });

  program
    .command('rollback')
    .description('put an archived version back into Production')
    .argument('<model>', 'name of the strategy')
    .argument('<version>', 'the version to go back to')
    .option('--reason <text>', 'goes into the history')
    .option('--expect <version>', 'refuse unless this version is in Production now')
    .action((model: string, version: string, options: RollbackOptions) =>
      withSession(url(), ({ client }) => rollBack(client, model, version, options)),
    );

  program
    .command('versions')
    .description('list the versions of a model, newest first, or its history')
    .argument('<model>', 'name of the strategy')
    .option('--no-archived', 'leave archived versions out')
    .option('--history', 'who did what when, newest first')
    .action((model: string, options: VersionsOptions) =>
      withSession(url(), ({ client }) => printVersions(client, model, options)),
    );

  program
    .command('compare')
    .description('compare a challenger with a champion on their registered backtests')
    .argument('<model>', 'name of the strategy')
    .argument('<champion>', 'version a: a number, champion or latest')
    .argument('<challenger>', 'version b')
    .action((model: string, champion: string, challenger: string) =>
      withSession(url(), ({ client }) => compareVersions(client, model, champion, challenger)),
    );
}
