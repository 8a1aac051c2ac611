import {
  DescribeImagesCommand,
  ECRClient,
  ImageNotFoundException,
  InvalidParameterException,
  RepositoryNotFoundException,
} from '@aws-sdk/client-ecr';
import { CodedError } from '#contract/values/errors.ts';
import type { ImageRegistry } from '#domain/registry/container-image.ts';
import { reportUnavailable } from '../dynamo/unavailable-errors.ts';

/** `{account}.dkr.ecr.{region}.amazonaws.com/{repository}[:tag][@digest]`. */
const ECR_IMAGE =
  /^(?<account>\d{12})\.dkr\.ecr\.(?<region>[a-z0-9-]+)\.amazonaws\.com(?:\.cn)?\/(?<repository>[^:@]+)(?::(?<tag>[^@]+))?(?:@(?<digest>sha256:[0-9a-f]{64}))?$/;

/** Errors for a missing image, including a name that ECR rejects. */
const NO_SUCH_IMAGE = [ImageNotFoundException, RepositoryNotFoundException, InvalidParameterException];

/** Worst case of one call: 3 attempts of 5 s. Commands throw HTTP503 when ECR is unavailable. */
function createEcrClient(region: string): ECRClient {
  const client = new ECRClient({
    region,
    maxAttempts: 3,
    requestHandler: { connectionTimeout: 2_000, requestTimeout: 5_000, throwOnRequestTimeout: true },
  });
  return reportUnavailable(client, 'HTTP503');
}

/** Images in ECR, of any account and region that grants read access. Other registries are not queried. */
export class EcrImages implements ImageRegistry {
  readonly #clientOf: (region: string) => ECRClient;

  constructor(clientOf: (region: string) => ECRClient = createEcrClient) {
    this.#clientOf = clientOf;
  }

  /** @throws CodedError VAL005 for a repository without read access, HTTP503 */
  async digestOf(uri: string): Promise<string | null | undefined> {
    const { account, region, repository, tag = 'latest', digest } = ECR_IMAGE.exec(uri)?.groups ?? {};
    if (!account || !region) return null;
    try {
      const { imageDetails = [] } = await this.#clientOf(region).send(
        new DescribeImagesCommand({
          registryId: account,
          repositoryName: repository,
          imageIds: [digest ? { imageDigest: digest } : { imageTag: tag }],
        }),
      );
      return imageDetails[0]?.imageDigest;
    } catch (error) {
      if (NO_SUCH_IMAGE.some((kind) => error instanceof kind)) return undefined;
      // The SDK exports no class for this error.
      if ((error as Error).name !== 'AccessDeniedException') throw error;
      const source = `${account}.dkr.ecr.${region}.amazonaws.com/${repository}`;
      throw new CodedError('VAL005', {
        message: `No read access to the ECR repository ${source}. Grant this platform read access in the repository policy.`,
        field: 'container_image_uri',
        context: { repository: source },
        cause: error,
      });
    }
  }
}
