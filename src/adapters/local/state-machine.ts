import { readFileSync } from 'node:fs';
import { StateMachine } from 'aws-local-stepfunctions';

/** An error that a handler throws with the ASL error name by which Retry and Catch match it. */
export class TaskFailure extends Error {
  constructor(name: string, message: string) {
    super(message);
    this.name = name;
  }
}

/** Runs one service integration with the state's resolved Parameters; the signal fires on stop and on time-out. */
export type Integration = (parameters: never, signal: AbortSignal) => Promise<unknown>;

export interface ExecutionHandle {
  /** Resolves with the output; rejects with an error named as in ASL. */
  readonly result: Promise<unknown>;
  readonly abort: (reason: string) => void;
}

interface State {
  readonly Type: string;
  readonly Resource?: string;
  readonly TimeoutSeconds?: number;
  readonly Retry?: readonly unknown[];
  /** Of a Map. */
  readonly ItemProcessor?: Definition;
}

interface Definition {
  readonly StartAt: string;
  readonly States: Readonly<Record<string, State>>;
}

/** Pauses between attempts exist to outlast faults of remote services; on one machine nothing is remote. */
const LOCAL_PAUSE_MS = 250;

/**
 * The state machine file that CDK deploys, run by the embedded interpreter.
 *
 * The interpreter leaves several things to its user, which are done here: it ignores JSONata and variables (refused),
 * calls Lambda for a Task without a handler (refused), and lets a handler run on after an abort or the state's
 * time-out (each handler gets a signal).
 */
export class LocalStateMachine {
  readonly #definition: Definition;
  readonly #machine: StateMachine;
  readonly #integrations: Readonly<Record<string, Integration>>;

  /** Throws when the definition uses JSONata or variables, or names a resource without an integration. */
  constructor(
    file: string | URL,
    substitutions: Readonly<Record<string, string>>,
    integrations: Readonly<Record<string, Integration>>,
  ) {
    const text = substitute(readFileSync(file, 'utf8'), substitutions);
    this.#definition = JSON.parse(text);
    this.#integrations = integrations;
    this.#check(text);
    // The files are the project's own, and its tests hold them to the language: checking them anew is a third of the start.
    this.#machine = new StateMachine(JSON.parse(text), { validationOptions: { noValidate: true } });
  }

  /** Starts an execution; `name` is what `$$.Execution.Name` reads. */
  start(name: string, input: unknown): ExecutionHandle {
    const stop = new AbortController();
    const execution = this.#machine.run(input as never, {
      context: {
        Execution: { Name: name, Input: input as never, StartTime: new Date().toISOString() },
        // Read when a state resolves its parameters, which is when it is entered.
        State: {
          get EnteredTime() {
            return new Date().toISOString();
          },
        },
      },
      overrides: {
        taskResourceLocalHandlers: this.#handlers(stop.signal),
        retryIntervalOverrides: this.#pauses((state) => state.Retry !== undefined),
        waitTimeOverrides: this.#pauses((state) => state.Type === 'Wait'),
      },
    });
    return {
      result: execution.result,
      abort: (reason) => {
        stop.abort(new TaskFailure('States.TaskFailed', reason));
        execution.abort();
      },
    };
  }

  #check(text: string): void {
    if (/"QueryLanguage"\s*:\s*"JSONata"|"Assign"\s*:/.test(text)) {
      throw new Error(
        'State machines are JSONPath without variables: the embedded interpreter runs nothing else',
      );
    }
    for (const [name, state] of this.#tasks()) {
      if (!state.Resource || !Object.hasOwn(this.#integrations, state.Resource)) {
        throw new Error(`State ${name} uses ${state.Resource}, for which there is no local integration`);
      }
    }
  }

  #tasks(): [string, State][] {
    return statesOf(this.#definition).filter(([, state]) => state.Type === 'Task');
  }

  #handlers(stopped: AbortSignal) {
    return Object.fromEntries(
      this.#tasks().map(([name, state]) => [
        name,
        async (parameters: unknown) => {
          const signal = state.TimeoutSeconds
            ? AbortSignal.any([stopped, AbortSignal.timeout(state.TimeoutSeconds * 1000)])
            : stopped;
          return (await this.#integrations[state.Resource!]!(parameters as never, signal)) as never;
        },
      ]),
    );
  }

  #pauses(pausing: (state: State) => boolean): Record<string, number> {
    const paused = statesOf(this.#definition).filter(([, state]) => pausing(state));
    return Object.fromEntries(paused.map(([name]) => [name, LOCAL_PAUSE_MS]));
  }
}

/** With those inside of Maps: their names differ too. */
function statesOf({ States }: Definition): [string, State][] {
  return Object.entries(States).flatMap(([name, state]) => [
    [name, state] as [string, State],
    ...(state.ItemProcessor ? statesOf(state.ItemProcessor) : []),
  ]);
}

function substitute(text: string, substitutions: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\$\{(\w+)\}/g, (_, key: string) => {
    const value = substitutions[key];
    if (value === undefined) throw new Error(`The state machine needs a value for \${${key}}`);
    return JSON.stringify(value).slice(1, -1);
  });
}
