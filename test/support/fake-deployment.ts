import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Aws } from '../../bin/operate/rotate-secret.ts';

/** A task of data collection with the tokens that it read at its start. */
interface Task {
  readonly arn: string;
  readonly startedBy: string;
  readonly accepts: readonly string[];
  lastStatus: 'PENDING' | 'RUNNING' | 'STOPPING' | 'STOPPED';
}

interface Input {
  readonly SecretId?: string;
  readonly SecretString?: string;
  readonly desiredStatus?: string;
  readonly tasks?: readonly string[];
  readonly Parameters?: readonly {
    readonly ParameterKey: string;
    readonly ParameterValue?: string | undefined;
  }[];
}

type Mutation = 'PutSecretValue' | 'UpdateService' | 'UpdateStack';

/**
 * AWS as bin/operate/rotate-secret.ts uses it: HTTP APIs of Secrets Manager, ECS and CloudFormation over one stack. Changes take effect in
 * the order that is worst for a rotation: the proxy sends the new token immediately, earlier calls last until a long wait, and
 * an earlier task responds until it has stopped.
 */
export class FakeDeployment {
  readonly secrets = new Map([
    ['arn:1', { version: 'v1', value: 'first-token-of-the-proxy' }],
    ['arn:2', { version: 'v2', value: 'second-token-of-the-proxy' }],
  ]);
  slot = '1';
  status = 'UPDATE_COMPLETE';
  /** End status of the next update of the stack. */
  updateEnds = 'UPDATE_COMPLETE';
  rollout: 'COMPLETED' | 'IN_PROGRESS' | 'FAILED' = 'COMPLETED';
  /** Makes the next deployment of data collection fail. */
  failsToStart = false;
  /** Fails the n-th call of this kind, before or after its effect. */
  crash: { readonly call: Mutation; readonly n: number; readonly after: boolean } | undefined;
  readonly calls: string[] = [];
  /** Bugs of this fake. */
  readonly errors: Error[] = [];
  /** Called after each change and each wait. */
  onChange: () => Promise<void> = async () => {};
  endpoint = '';
  #tasks: Task[] = [];
  /** Tokens that running calls of the proxy send. */
  #sent = new Set<string>();
  #age = 0;
  #versions = 2;
  readonly #server = createServer((request, response) => {
    this.#serve(request, response).catch((error: Error) => {
      this.errors.push(error);
      response.writeHead(500).end();
    });
  });

  async start(): Promise<this> {
    this.#tasks = [this.#task('ecs-svc/0', 'RUNNING')];
    this.#sent.add(this.#token());
    await once(this.#server.listen(0, '127.0.0.1'), 'listening');
    this.endpoint = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
    return this;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  /** Tokens that calls send now. */
  get sent(): readonly string[] {
    return [...this.#sent];
  }

  /** Accepted tokens of each task that responds now. */
  get responding(): readonly (readonly string[])[] {
    return this.#tasks
      .filter(({ lastStatus }) => lastStatus === 'RUNNING' || lastStatus === 'STOPPING')
      .map(({ accepts }) => accepts);
  }

  /** Time passes: what was begun goes one step on. */
  readonly wait = async (ms: number): Promise<void> => {
    this.#age++;
    this.#advanceTasks();
    if (this.status === 'UPDATE_IN_PROGRESS' && this.#age > 1) this.#endUpdate();
    // The time limit of the data proxy.
    if (ms >= 60_000 && this.status !== 'UPDATE_IN_PROGRESS') this.#sent = new Set([this.#token()]);
    await this.onChange();
  };

  #advanceTasks(): void {
    const newest = this.#tasks.at(-1)!;
    const earlier = this.#tasks.filter((each) => each !== newest && each.lastStatus !== 'STOPPED');
    if (newest.lastStatus === 'PENDING') newest.lastStatus = 'RUNNING';
    else if (this.rollout === 'IN_PROGRESS') {
      this.rollout = 'COMPLETED';
      for (const each of earlier) each.lastStatus = 'STOPPING';
    } else for (const each of earlier) each.lastStatus = 'STOPPED';
  }

  #endUpdate(): void {
    this.status = this.updateEnds;
    if (this.status !== 'UPDATE_COMPLETE') this.slot = this.slot === '1' ? '2' : '1';
    this.#sent.add(this.#token());
  }

  #token(): string {
    return this.secrets.get(`arn:${this.slot}`)!.value;
  }

  #task(startedBy: string, lastStatus: Task['lastStatus']): Task {
    const accepts = [...this.secrets.values()].map(({ value }) => value);
    return { arn: `task/${this.#tasks.length}`, startedBy, accepts, lastStatus };
  }

  /** Calls an operation without HTTP. */
  readonly aws: Aws = async <Output>(_: string, operation: string, input: object) => {
    const name = operation.replaceAll(/(?:^|-)(.)/g, (_, letter: string) => letter.toUpperCase());
    return (await this.#call(name, input as Input)) as Output;
  };

  async #call(name: string, input: Input): Promise<unknown> {
    this.calls.push(name);
    const count = this.calls.filter((each) => each === name).length;
    const crash = this.crash?.call === name && this.crash.n === count ? this.crash : undefined;
    if (crash && !crash.after) throw new Error('crash');
    const output = this.#respond(name, input);
    await this.onChange();
    if (crash) throw new Error('crash');
    return output;
  }

  /** The protocols of the three APIs: JSON, and queries with responses in XML. `/wait/{ms}` lets time pass. */
  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [, waited] = /^\/wait\/(\d+)$/.exec(request.url!) ?? [];
    if (waited !== undefined) {
      await this.wait(Number(waited));
      response.end();
      return;
    }
    const body = await text(request);
    const target = request.headers['x-amz-target'];
    if (typeof target === 'string') {
      const output = await this.#call(target.split('.')[1]!, JSON.parse(body));
      response.writeHead(200, { 'Content-Type': 'application/x-amz-json-1.1' }).end(JSON.stringify(output));
      return;
    }
    const query = Object.fromEntries(new URLSearchParams(body));
    const keys = Object.keys(query).filter((key) => key.endsWith('.ParameterKey'));
    const Parameters = keys.map((key) => ({
      ParameterKey: query[key]!,
      ParameterValue: query[key.replace(/Key$/, 'Value')],
    }));
    const name = query.Action!;
    const output = await this.#call(name, { ...query, Parameters });
    const result = `<${name}Result>${xml(output)}</${name}Result>`;
    response
      .writeHead(200, { 'Content-Type': 'text/xml' })
      .end(`<${name}Response>${result}</${name}Response>`);
  }

  #respond(name: string, input: Input): unknown {
    switch (name) {
      case 'PutSecretValue': {
        const version = `v${++this.#versions}`;
        this.secrets.set(input.SecretId!, { version, value: input.SecretString! });
        return { VersionId: version };
      }
      case 'DescribeSecret':
        return { VersionIdsToStages: { [this.secrets.get(input.SecretId!)!.version]: ['AWSCURRENT'] } };
      case 'UpdateService': {
        const id = `ecs-svc/${this.#tasks.length}`;
        if (!this.failsToStart) this.#tasks.push(this.#task(id, 'PENDING'));
        this.rollout = this.failsToStart ? 'FAILED' : 'IN_PROGRESS';
        return { service: { deployments: [{ id, status: 'PRIMARY' }] } };
      }
      case 'DescribeServices': {
        const id = this.failsToStart ? `ecs-svc/${this.#tasks.length}` : this.#tasks.at(-1)!.startedBy;
        return { services: [{ deployments: [{ id, status: 'PRIMARY', rolloutState: this.rollout }] }] };
      }
      case 'ListTasks': {
        const stopping = (each: Task) => each.lastStatus === 'STOPPING' || each.lastStatus === 'STOPPED';
        const listed = this.#tasks.filter((each) => stopping(each) === (input.desiredStatus === 'STOPPED'));
        return { taskArns: listed.map(({ arn }) => arn) };
      }
      case 'DescribeTasks':
        return {
          tasks: this.#tasks
            .filter(({ arn }) => input.tasks!.includes(arn))
            .map(({ arn, startedBy, lastStatus }) => ({ taskArn: arn, startedBy, lastStatus })),
        };
      case 'DescribeStacks':
        return this.#stack();
      case 'UpdateStack':
        return this.#update(input);
      default:
        throw new Error(`The fake does not know ${name}`);
    }
  }

  #update({ Parameters }: Input): unknown {
    this.slot = Parameters!.find(({ ParameterKey }) => ParameterKey === 'ServiceTokenSlot')!.ParameterValue!;
    this.status = 'UPDATE_IN_PROGRESS';
    this.#age = 0;
    this.#sent.add(this.#token());
    return { StackId: 'stack' };
  }

  #stack(): unknown {
    const outputs = {
      ServiceTokenArn1: 'arn:1',
      ServiceTokenArn2: 'arn:2',
      DataCollectionCluster: 'cluster',
      DataCollectionService: 'service',
    };
    const stack = {
      StackName: 'touchstone-prod-platform',
      StackStatus: this.status,
      CreationTime: '2026-01-01T00:00:00Z',
      Parameters: [
        { ParameterKey: 'BootstrapVersion', ParameterValue: '/cdk' },
        { ParameterKey: 'ServiceTokenSlot', ParameterValue: this.slot },
      ],
      Outputs: Object.entries(outputs).map(([OutputKey, OutputValue]) => ({ OutputKey, OutputValue })),
    };
    return { Stacks: [stack] };
  }
}

function xml(value: unknown): string {
  if (Array.isArray(value)) return value.map((each) => `<member>${xml(each)}</member>`).join('');
  if (typeof value !== 'object' || value === null) return String(value);
  return Object.entries(value)
    .map(([key, each]) => `<${key}>${xml(each)}</${key}>`)
    .join('');
}
