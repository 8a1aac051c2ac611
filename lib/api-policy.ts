import * as iam from 'aws-cdk-lib/aws-iam';
import type { Operation, ServiceName } from '#contract/operation.ts';
import { operationsOf } from '#contract/operations.ts';
import type { StageConfig } from './config.ts';

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/**
 * Who may call a service's API, where callers of other accounts are trusted with the routes that ask for IAM's signature: such a
 * caller needs this and its own role's permission, one of this account either. A policy of an API allows nothing that it
 * does not name, so that everything else is named too; unknown paths of the signed routes' methods are 403 then, not 404.
 * Undefined where nobody else is trusted: no policy, and all as it is.
 */
export function apiPolicy(config: StageConfig, service: ServiceName): iam.PolicyDocument | undefined {
  const { authRequired, stage, trustedCallers, trustedOrganization } = config;
  const operations = operationsOf(service);
  const signed = operations.filter(({ integration }) => integration);
  if (!authRequired || signed.length === 0 || (trustedCallers.length === 0 && !trustedOrganization)) {
    return undefined;
  }
  const route = (method: string, path: string) => `execute-api:/${stage}/${method}${path}`;
  const routeOf = ({ method, path }: Operation) => route(method, path.replaceAll(/\{\w+\}/g, '*'));
  const signedMethods = new Set<string>(signed.map(({ method }) => method));
  const open = [
    ...METHODS.filter((method) => !signedMethods.has(method)).map((method) => route(method, '/*')),
    ...operations.filter((each) => !each.integration && signedMethods.has(each.method)).map(routeOf),
  ];
  const allow = (principals: iam.IPrincipal[], resources: string[]) =>
    new iam.PolicyStatement({ actions: ['execute-api:Invoke'], principals, resources });
  const callers = trustedCallers.map((caller) =>
    caller.startsWith('arn:') ? new iam.ArnPrincipal(caller) : new iam.AccountPrincipal(caller),
  );
  return new iam.PolicyDocument({
    statements: [
      allow([new iam.AnyPrincipal()], open),
      ...(callers.length > 0 ? [allow(callers, signed.map(routeOf))] : []),
      ...(trustedOrganization
        ? [allow([new iam.OrganizationPrincipal(trustedOrganization)], signed.map(routeOf))]
        : []),
    ],
  });
}
