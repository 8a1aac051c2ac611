import { operationsOf } from '#contract/operations/operations.ts';
import { pathsOf } from '#contract/values/operation.ts';
import { getJson } from '../emulator.ts';
import type { Deployed } from '../rehearsal.ts';
import { failOn, resourcesOf } from './resources.ts';

const SERVICES = ['backend', 'strategy'] as const;

interface GatewayResource {
  readonly path: string;
  readonly resourceMethods?: Readonly<
    Record<
      string,
      { readonly authorizationType?: string; readonly methodIntegration?: { readonly uri: string } }
    >
  >;
}

/** Compares the routes of both APIs with the operations table, and looks for the functions that they invoke. */
export async function routes(deployed: Deployed): Promise<string> {
  const aliases = new Set(resourcesOf(deployed, 'AWS::Lambda::Alias').map(({ physical }) => physical));
  const apis = resourcesOf(deployed, 'AWS::ApiGateway::RestApi');
  const problems: string[] = [];
  let operations = 0;
  for (const service of SERVICES) {
    const api = apis.find(({ logicalId }) => logicalId.toLowerCase().startsWith(service));
    if (!api) {
      problems.push(`The API of ${service} is not deployed`);
      continue;
    }
    const { item } = await getJson<{ readonly item: readonly GatewayResource[] }>(
      deployed.emulator,
      'apigateway',
      `/restapis/${api.physical}/resources?embed=methods&limit=500`,
    );
    const { count, wrong } = problemsOf(service, item, aliases);
    operations += count;
    problems.push(...wrong);
  }
  failOn(problems);
  return `${operations} operations are routed to deployed aliases`;
}

function problemsOf(
  service: (typeof SERVICES)[number],
  resources: readonly GatewayResource[],
  aliases: ReadonlySet<string>,
): { readonly count: number; readonly wrong: readonly string[] } {
  const byPath = new Map(resources.map((each) => [each.path, each.resourceMethods ?? {}]));
  const target = (path: string, method: string) =>
    /functions\/(.+)\/(?:response-streaming-)?invocations$/.exec(
      byPath.get(path)?.[method]?.methodIntegration?.uri ?? '',
    )?.[1];
  const handler = target('/{proxy+}', 'ANY');
  const wrong: string[] = [];
  const own = new Set<string>();
  for (const operation of operationsOf(service)) {
    const { id, method, path } = operation;
    for (const each of pathsOf(operation)) {
      const any = target(each, 'ANY');
      if (any !== handler) wrong.push(`${id}: ANY ${each} leads to ${any} instead of the service`);
    }
    if (!operation.integration && !operation.streams) continue;
    own.add(`${method} ${path}`);
    const function_ = target(path, method);
    if (!function_ || function_ === handler)
      wrong.push(`${id}: ${method} ${path} has no function of its own`);
  }
  const methods = [...byPath].flatMap(([path, each]) =>
    Object.keys(each).map((method) => ({ path, method })),
  );
  for (const { path, method } of methods) {
    const arn = target(path, method);
    if (!arn || !aliases.has(arn)) wrong.push(`${method} ${path} leads to ${arn}, which is not deployed`);
    if (method !== 'ANY' && !own.has(`${method} ${path}`)) wrong.push(`${method} ${path} is no operation`);
  }
  return { count: operationsOf(service).length, wrong };
}
