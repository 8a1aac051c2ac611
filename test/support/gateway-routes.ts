import { ofType, type Synthesized } from './stacks.ts';

/** Routes of a template between a request and its function. */

/** OpenAPI document of one API. */
export const definitionOf = (stage: Synthesized, api: RegExp) =>
  ofType(stage, 'AWS::ApiGateway::RestApi').find(([id]) => api.test(id))![1].Properties.Body;

export interface Route {
  readonly path: string;
  /** Upper case, or `ANY`. */
  readonly method: string;
  readonly security: readonly Readonly<Record<string, unknown>>[];
  readonly integration: Readonly<Record<string, any>>;
}

const ANY = 'x-amazon-apigateway-any-method';

/** Methods of one API, as API Gateway imports them. */
export function routesOf(stage: Synthesized, api: RegExp): Route[] {
  const { paths } = definitionOf(stage, api) as { paths: Record<string, Record<string, any>> };
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { security = [], ...operation }]) => ({
      path,
      method: method === ANY ? 'ANY' : method.toUpperCase(),
      security,
      integration: operation['x-amazon-apigateway-integration'],
    })),
  );
}

/** Methods with another target than the service's function. */
export const ownRoutes = (stage: Synthesized, api: RegExp) =>
  routesOf(stage, api).filter(({ method }) => method !== 'ANY');

/** Permissions of API Gateway to invoke an alias. */
export const gatewayPermissions = (stage: Synthesized, alias: string) =>
  ofType(stage, 'AWS::Lambda::Permission')
    .map(([, { Properties }]) => Properties)
    .filter(({ Principal }) => Principal === 'apigateway.amazonaws.com')
    .filter(({ FunctionName }) => JSON.stringify(FunctionName).includes(alias));
