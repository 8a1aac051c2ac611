import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { signedFetch } from '../../../src/adapters/aws/signed-call.ts';

/** A call that AWS has rejected or not answered. */
export class AwsError extends Error {
  readonly code: string;

  /** @param code AWS's name of the error */
  constructor(action: string, code: string) {
    super(`${action}: ${code}`);
    this.code = code;
  }
}

/** Code of an error, which is in JSON or in XML, by service and by protocol under another name. */
function errorCode(text: string, status: number): string {
  const json = /"(?:__type|code|Code)"\s*:\s*"([^"]+)"/.exec(text)?.[1];
  const code = json ?? elements(text, 'Code')[0] ?? `HTTP status ${status}`;
  return code.slice(code.indexOf('#') + 1);
}

/** Versions of the APIs whose parameters are a form. */
const VERSIONS = { cloudformation: '2010-05-15', ec2: '2016-11-15', iam: '2010-05-08', sts: '2011-06-15' };
/** Beginning of the header `X-Amz-Target` of the JSON APIs. */
const TARGETS = { acm: 'CertificateManager', servicequotas: 'ServiceQuotasV20190624', ssm: 'AmazonSSM' };
/** Reads an account through AWS's APIs, with the credentials that the SDK finds. It calls nothing that changes something. */
export class Account {
  readonly region: string;
  readonly #client: DynamoDBClient;
  readonly #endpoint: string | undefined;

  /** @param endpoint of all services @default - that of each service */
  constructor(region: string, endpoint?: string) {
    this.region = region;
    this.#client = new DynamoDBClient({ region });
    this.#endpoint = endpoint;
  }

  /** The same account in another region. */
  in(region: string): Account {
    return region === this.region ? this : new Account(region, this.#endpoint);
  }

  /** Response of an API whose parameters are a form, as XML. @throws AwsError */
  query(service: keyof typeof VERSIONS, Action: string, parameters: Readonly<Record<string, string>> = {}) {
    const body = String(new URLSearchParams({ Action, Version: VERSIONS[service], ...parameters }));
    const headers = { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' };
    return this.#send(service, Action, '/', { method: 'POST', headers, body });
  }

  /** Response of a JSON API. @throws AwsError */
  async json<T>(service: keyof typeof TARGETS, action: string, parameters: object): Promise<T> {
    const headers = {
      'content-type': 'application/x-amz-json-1.1',
      'x-amz-target': `${TARGETS[service]}.${action}`,
    };
    const body = JSON.stringify(parameters);
    return JSON.parse(await this.#send(service, action, '/', { method: 'POST', headers, body }));
  }

  /** Response of a REST API. @throws AwsError */
  get(service: 'apigateway' | 'backup' | 'lambda', action: string, path: string): Promise<string> {
    // API Gateway answers in another format without it.
    return this.#send(service, action, path, { method: 'GET', headers: { accept: 'application/json' } });
  }

  async #send(
    service: string,
    action: string,
    path: string,
    request: {
      readonly method: 'GET' | 'POST';
      readonly headers?: Record<string, string>;
      readonly body?: string;
    },
  ): Promise<string> {
    const { endpoint, region } = this.#target(service);
    const url = new URL(path, this.#endpoint ?? endpoint);
    const response = await signedFetch(this.#client, url, { service, region, ...request }).catch(
      (error: Error) => {
        throw new AwsError(`${service}:${action}`, String(error.cause ?? error.message));
      },
    );
    const text = await response.text();
    if (!response.ok) throw new AwsError(`${service}:${action}`, errorCode(text, response.status));
    return text;
  }

  /** IAM has one endpoint per partition; the others have one per region. */
  #target(service: string): { readonly endpoint: string; readonly region: string } {
    const isChina = this.region.startsWith('cn-');
    const suffix = isChina ? 'amazonaws.com.cn' : 'amazonaws.com';
    if (service !== 'iam') {
      return { endpoint: `https://${service}.${this.region}.${suffix}`, region: this.region };
    }
    return isChina
      ? { endpoint: `https://iam.cn-north-1.${suffix}`, region: 'cn-north-1' }
      : { endpoint: `https://iam.${suffix}`, region: 'us-east-1' };
  }
}

/** Values of an element of an XML response. */
export function elements(xml: string, name: string): string[] {
  return [...xml.matchAll(new RegExp(`<${name}>([^<]*)</${name}>`, 'g'))].map(([, value]) => value!);
}
