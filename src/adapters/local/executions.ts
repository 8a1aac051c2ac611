import type { ExecutionState, Executions } from '#domain/execution-ports.ts';
import type { ExecutionHandle, LocalStateMachine } from './state-machine.ts';

interface Execution {
  readonly handle: ExecutionHandle;
  state: ExecutionState;
}

/** Ended executions whose state is still known; Step Functions keeps them for 90 days. */
const KEPT_ENDED = 1_000;

/** Executions of one state machine inside this process: the one machine's Step Functions. */
export class LocalExecutions<Input extends { readonly job_id: string }> implements Executions<Input> {
  readonly #machine: LocalStateMachine;
  readonly #executions = new Map<string, Execution>();
  readonly #onEnd: (name: string, state: ExecutionState, error: unknown) => void;

  /** `onEnd` is told of every execution that ended, as EventBridge would tell. */
  constructor(
    machine: LocalStateMachine,
    onEnd: (name: string, state: ExecutionState, error: unknown) => void,
  ) {
    this.#machine = machine;
    this.#onEnd = onEnd;
  }

  async start(input: Input, _priority?: number, name = input.job_id): Promise<void> {
    if (this.#executions.has(name)) return;
    const execution: Execution = {
      handle: this.#machine.start(name, input),
      state: { status: 'running' },
    };
    this.#executions.set(name, execution);
    execution.handle.result.then(
      () => this.#end(name, execution, { status: 'succeeded' }),
      (error: unknown) => this.#end(name, execution, endedBy(error), error),
    );
  }

  async stop(name: string, cause: string): Promise<void> {
    const execution = this.#executions.get(name);
    if (execution?.state.status === 'running') execution.handle.abort(cause);
  }

  async state(name: string): Promise<ExecutionState | undefined> {
    return this.#executions.get(name)?.state;
  }

  /** Stops every running execution without telling `onEnd`: the platform is going down, its jobs go on at the next start. */
  stopAll(): void {
    for (const execution of this.#executions.values()) {
      if (execution.state.status !== 'running') continue;
      execution.state = { status: 'aborted' };
      execution.handle.abort('The platform is stopping');
    }
  }

  #end(name: string, execution: Execution, state: ExecutionState, error?: unknown): void {
    if (execution.state.status !== 'running') return;
    execution.state = state;
    this.#forgetOldest();
    this.#onEnd(name, state, error);
  }

  #forgetOldest(): void {
    const ended = [...this.#executions].filter(([, each]) => each.state.status !== 'running');
    for (const [jobId] of ended.slice(0, Math.max(0, ended.length - KEPT_ENDED))) {
      this.#executions.delete(jobId);
    }
  }
}

function endedBy(error: unknown): ExecutionState {
  const name = error instanceof Error ? error.name : '';
  if (name === 'ExecutionAbortedError') return { status: 'aborted' };
  return { status: /Timeout/i.test(name) ? 'timed_out' : 'failed' };
}
