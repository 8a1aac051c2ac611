import { functionMemoryGb, taskSize } from './idle.ts';
import {
  BACKTEST,
  FAST_BACKTEST,
  FUNCTION_SECONDS,
  IMAGE_BACKTEST,
  MIN_TASK_SECONDS,
  TRIAL,
  WORKER_START_SECONDS,
} from './model.ts';
import type { PriceName, Usage } from './prices.ts';
import type { Properties, Resources } from './templates.ts';
import { type Definition, type State, statesOf, transitions } from './transitions.ts';

/** Number of backtests, trials or visits that a lane's cost is for. */
export const RUNS = 1000;

/** One way in which backtests run, as a path through a state machine. */
interface Lane {
  readonly name: string;
  /** Substitution that only the lane's state machine has: the task that runs. */
  readonly task: 'BacktestTask' | 'HyperoptTask';
  /** Branches of Choice states other than their defaults. */
  readonly choices: Readonly<Record<string, string>>;
}

const LANES: readonly Lane[] = [
  {
    name: 'Backtest in a function',
    task: 'BacktestTask',
    choices: { IsFresh: 'ChooseImage', ChooseImage: 'RunBacktestFast' },
  },
  {
    name: 'Backtest in a function, candles collected first',
    task: 'BacktestTask',
    choices: { IsFresh: 'CollectDataFast', ChooseImage: 'RunBacktestFast' },
  },
  {
    name: 'Backtest on Spot',
    task: 'BacktestTask',
    choices: { IsFresh: 'ChooseImage' },
  },
  {
    name: 'Backtest on demand',
    task: 'BacktestTask',
    choices: { IsFresh: 'ChooseImage', ChooseCapacity: 'RunBacktestOnDemand' },
  },
  {
    name: 'Backtest on Spot, candles collected first',
    task: 'BacktestTask',
    choices: {},
  },
  {
    name: 'Backtest of a registered image on Spot',
    task: 'BacktestTask',
    choices: { IsFresh: 'ChooseImage', ChooseImage: 'PrepareImage', ChooseRecording: 'RecordImageRun' },
  },
  {
    name: 'Trial of a hyperopt job, one worker on Spot',
    task: 'HyperoptTask',
    choices: { IsFresh: 'Workers' },
  },
];

export interface LaneCost {
  readonly name: string;
  /** For {@link RUNS} backtests, trials or visits. Its items are the columns of the report. */
  readonly usages: readonly Usage[];
}

/** Columns of the report. */
export const COLUMNS = ['Tasks', 'Workflow', 'API', 'Tables', 'Objects', 'Logs', 'CloudFront'] as const;
type Column = (typeof COLUMNS)[number];

/** @param seconds billed duration of a backtest's task: from the pull of its image to its end */
export function laneCosts(resources: Resources, seconds: number): LaneCost[] {
  return LANES.map((lane) => {
    const machine = machineOf(lane, resources);
    const definition: Definition = JSON.parse(machine.DefinitionString);
    const states = statesOf(definition, lane.choices);
    const execution = { states, substitutions: machine.DefinitionSubstitutions, lane, resources };
    const usages =
      lane.task === 'BacktestTask'
        ? [...times(RUNS, workflow(execution, seconds)), ...times(RUNS, requests(execution))]
        : [...workflow(execution, trialSeconds(execution)), ...times(RUNS, trial())];
    return { name: lane.name, usages };
  });
}

interface Execution {
  readonly states: readonly State[];
  readonly substitutions: Readonly<Record<string, unknown>>;
  readonly lane: Lane;
  readonly resources: Resources;
}

export function use(item: Column, price: PriceName, quantity: number): Usage {
  return { item, price, quantity };
}

export function times(factor: number, usages: readonly Usage[]): Usage[] {
  return usages.map((each) => ({ ...each, quantity: each.quantity * factor }));
}

function machineOf({ task }: Lane, resources: Resources): Properties {
  for (const { Type, Properties } of resources.values()) {
    if (Type !== 'AWS::StepFunctions::StateMachine') continue;
    if (Properties!.DefinitionSubstitutions[task] !== undefined) return Properties!;
  }
  throw new Error(`No state machine runs ${task}`);
}

/** Transitions, tasks and functions of one execution. */
function workflow(execution: Execution, seconds: number): Usage[] {
  const { states } = execution;
  return [
    use('Workflow', 'stateTransition', transitions(states)),
    ...states.flatMap((state) => {
      if (state.Resource?.endsWith('ecs:runTask.sync')) return task(state, execution, seconds);
      if (state.Resource?.endsWith('lambda:invoke')) return call(state, execution);
      return [];
    }),
  ];
}

function task({ Parameters = {} }: State, execution: Execution, seconds: number): Usage[] {
  const { substitutions, lane, resources } = execution;
  // A backtest's definition is chosen by an earlier state: the platform's image runs as BacktestTask.
  const { TaskDefinition = `\${${lane.task}}`, CapacityProviderStrategy, NetworkConfiguration } = Parameters;
  const { vcpu, memoryGb } = taskSize(substituted(TaskDefinition, substitutions), resources);
  const isSpot = CapacityProviderStrategy[0].CapacityProvider === 'FARGATE_SPOT';
  const { AssignPublicIp } = NetworkConfiguration.AwsvpcConfiguration;
  const isJob = TaskDefinition === `\${${lane.task}}`;
  const hours = (isJob ? Math.max(seconds, MIN_TASK_SECONDS) : MIN_TASK_SECONDS) / 3600;
  return [
    use('Tasks', isSpot ? 'spotVcpu' : 'fargateVcpu', vcpu * hours),
    use('Tasks', isSpot ? 'spotMemory' : 'fargateMemory', memoryGb * hours),
    ...(substituted(AssignPublicIp, substitutions) === 'ENABLED'
      ? [use('Tasks', 'publicAddress', hours)]
      : []),
  ];
}

function call({ Parameters = {} }: State, { substitutions, resources }: Execution): Usage[] {
  const memoryGb = functionMemoryGb(substituted(Parameters.FunctionName, substitutions), resources);
  const seconds = FUNCTION_SECONDS[nameIn(Parameters.FunctionName) ?? ''];
  const column = seconds === undefined ? 'Workflow' : 'Tasks';
  return [
    use(column, 'lambdaRequest', 1),
    use(column, 'lambdaDuration', memoryGb * (seconds ?? BACKTEST.proxySeconds)),
  ];
}

/** Value of `${Name}`; any other value unchanged. */
function substituted(value: unknown, substitutions: Readonly<Record<string, unknown>>): unknown {
  const name = nameIn(value);
  return name === undefined ? value : substitutions[name];
}

/** `Name` of `${Name}`. */
function nameIn(value: unknown): string | undefined {
  return typeof value === 'string' ? /^\$\{(\w+)\}$/.exec(value)?.[1] : undefined;
}

/** Use by the client and the task of one execution. */
function requests({ lane, resources }: Execution): Usage[] {
  const isFast = lane.choices.ChooseImage === 'RunBacktestFast';
  const isImage = lane.choices.ChooseImage === 'PrepareImage';
  const [backend] = [...resources].find(
    ([id, { Type }]) => Type === 'AWS::Lambda::Alias' && id.startsWith('Backend'),
  ) ?? [''];
  const memoryGb = functionMemoryGb({ Ref: backend }, resources);
  return [
    use('API', 'apiRequest', BACKTEST.apiRequests),
    use('API', 'lambdaRequest', BACKTEST.apiRequests),
    use('API', 'lambdaDuration', BACKTEST.apiRequests * BACKTEST.requestSeconds * memoryGb),
    use('API', 'queueRequest', BACKTEST.queueRequests),
    ...storage(isFast ? { ...BACKTEST, tableWrites: FAST_BACKTEST.tableWrites } : BACKTEST),
    use('Objects', 'objectWrite', (isImage ? IMAGE_BACKTEST : BACKTEST).objectWrites),
    use('Logs', 'trace', BACKTEST.traces),
  ];
}

const trial = () => storage(TRIAL);

/** Use of storage. */
type Storage = Readonly<Record<'tableWrites' | 'tableReads' | 'objectReads' | 'logGb', number>>;

function storage({ tableWrites, tableReads, objectReads, logGb }: Storage): Usage[] {
  return [
    use('Tables', 'tableWrite', tableWrites),
    use('Tables', 'tableRead', tableReads),
    use('Objects', 'objectRead', objectReads),
    use('Logs', 'logIngestion', logGb),
  ];
}

/** Duration of the only worker of a job with {@link RUNS} trials: it runs one per vCPU. */
function trialSeconds({ substitutions, lane, resources }: Execution): number {
  const { vcpu } = taskSize(substitutions[lane.task], resources);
  return WORKER_START_SECONDS + (RUNS * TRIAL.seconds) / vcpu;
}
