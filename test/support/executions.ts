import type { ExecutionState, Executions } from '#domain/jobs/execution-ports.ts';

/** Executions in memory whose states a test sets. */
export interface MemoryExecutions extends Executions<never> {
  /** Names in the order of their starts, repeated starts included. */
  readonly started: string[];
  readonly stopped: string[];
  readonly states: Map<string, ExecutionState['status']>;
}

export function memoryExecutions(): MemoryExecutions {
  const started: string[] = [];
  const stopped: string[] = [];
  const states: MemoryExecutions['states'] = new Map();
  return {
    started,
    stopped,
    states,
    start: async (_, name) => {
      started.push(name);
      if (!states.has(name)) states.set(name, 'running');
    },
    stop: async (name) => void stopped.push(name),
    state: async (name) => (states.has(name) ? { status: states.get(name)! } : undefined),
    running: async () =>
      new Set([...states].filter(([, status]) => status === 'running').map(([name]) => name)),
  };
}
