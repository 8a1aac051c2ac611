import {
  DescribeImagesCommand,
  ECRClient,
  ImageNotFoundException,
  InvalidParameterException,
  RepositoryNotFoundException,
} from '@aws-sdk/client-ecr';
import { CodedError } from '#contract/errors.ts';
import type { ImageRegistry } from '#domain/registry/container-image.ts';
import { reportUnavailable } from './unavailable.ts';

/** `{account}.dkr.ecr.{region}.amazonaws.com/{repository}[:tag][@digest]`. */
const ECR_IMAGE =
  /^(?<account>\d{12})\.dkr\.ecr\.(?<region>[a-z0-9-]+)\.amazonaws\.com(?:\.cn)?\/(?<repository>[^:@]+)(?::(?<tag>[^@]+))?(?:@(?<digest>sha256:[0-9a-f]{64}))?$/;

/** A name that ECR does not accept names nothing either. */
const NO_SUCH_IMAGE = [ImageNotFoundException, RepositoryNotFoundException, InvalidParameterException];

/** Worst case of one call: 3 attempts of 5 s. Commands throw HTTP503 when ECR cannot answer. */
function createEcrClient(region: string): ECRClient {
  const client = new ECRClient({
    region,
    maxAttempts: 3,
    requestHandler: { connectionTimeout: 2_000, requestTimeout: 5_000, throwOnRequestTimeout: true },
  });
  return reportUnavailable(client, 'HTTP503');
}

/** Images in ECR, of any account and region that lets this one read them. Other registries are not asked. */
export class EcrImages implements ImageRegistry {
  readonly #clientOf: (region: string) => ECRClient;

  constructor(clientOf: (region: string) => ECRClient = createEcrClient) {
    this.#clientOf = clientOf;
  }

  /** Throws VAL005 for a repository that may not be read, HTTP503. */
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
      // No class of ECR's own: the name is what tells it.
      if ((error as Error).name !== 'AccessDeniedException') throw error;
      throw new CodedError('VAL005', {
        message: 'This platform may not read the repository of the image',
        field: 'container_image_uri',
        context: { repository: `${account}.dkr.ecr.${region}.amazonaws.com/${repository}` },
        cause: error,
      });
    }
  }
}
