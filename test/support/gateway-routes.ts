import { ofType, type Resource, type Synthesized } from './stacks.ts';

/** Resources of a template between a request and its function. */

/** Methods of one API. */
export const methodsOf = (stage: Synthesized, api: RegExp) =>
  ofType(stage, 'AWS::ApiGateway::Method')
    .filter(([id]) => api.test(id))
    .map(([, each]) => each.Properties);

/** Methods with another target than the service's function, as `GET /path`. */
export const ownRoutes = (stage: Synthesized, api: RegExp) =>
  methodsOf(stage, api)
    .filter(({ HttpMethod }) => HttpMethod !== 'ANY')
    .map((method) => ({ route: `${method.HttpMethod} ${pathOf(stage, method.ResourceId.Ref)}`, method }));

/** Path of a resource. */
export function pathOf(stage: Synthesized, id: string): string {
  const { ParentId, PathPart } = (stage.resources.get(id) as Resource).Properties;
  return `${ParentId.Ref ? pathOf(stage, ParentId.Ref) : ''}/${PathPart}`;
}

/** Permissions of API Gateway to invoke an alias. */
export const gatewayPermissions = (stage: Synthesized, alias: string) =>
  ofType(stage, 'AWS::Lambda::Permission')
    .map(([, { Properties }]) => Properties)
    .filter(({ Principal }) => Principal === 'apigateway.amazonaws.com')
    .filter(({ FunctionName }) => JSON.stringify(FunctionName).includes(alias));
