/** Cause of a task that ECS stopped before its container started, as Step Functions passes it. */
const stopped = (reason: string) => JSON.stringify({ StopCode: 'TaskFailedToStart', StoppedReason: reason });

const ECR = '111122223333.dkr.ecr.us-east-1.amazonaws.com';
const BUCKET = 'https://prod-us-east-1-starport-layer-bucket.s3.us-east-1.amazonaws.com';

/**
 * Failures of a registry, or on the way to it, that end by themselves. Documented at
 * https://docs.aws.amazon.com/AmazonECS/latest/developerguide/task_cannot_pull_image.html, or published by users of Fargate.
 */
export const PASSING_PULL_FAILURES = [
  `CannotPullContainerError: pull image manifest has been retried 5 time(s): failed to resolve ref ${ECR}/own:1: failed to do request: Head "https://${ECR}/v2/own/manifests/1": dial tcp 10.0.3.17:443: i/o timeout`,
  `CannotPullContainerError: API error (500): Get https://${ECR}/v2/: net/http: request canceled while waiting for connection`,
  'CannotPullContainerError: ref pull has been retried 1 time(s): failed to copy: httpReadSeeker: failed open: unexpected status code https://registry.example/v2/own/blobs/sha256:69e520ad: 504 Gateway Time-out',
  `CannotPullContainerError: ref pull has been retried 1 time(s): failed to copy: httpReadSeeker: failed open: unexpected status code ${BUCKET}: 503 Service Unavailable`,
  'CannotPullContainerError: inspect image has been retried 5 time(s): httpReaderSeeker: failed open: unexpected status code Too Many Requests - Server message: toomanyrequests: You have reached your pull rate limit.',
  `CannotPullContainerError: pull image manifest has been retried 5 time(s): failed to resolve ref ${ECR}/own:1: failed to do request: Head "https://${ECR}/v2/own/manifests/1": dial tcp: lookup ${ECR} on 10.0.0.2:53: no such host`,
  `CannotPullContainerError: The task cannot pull own from the Amazon ECR repository ${ECR}/own. There is a connection issue between the task and Amazon ECR. Check your task network configuration.`,
  'CannotPullContainerError: context canceled',
  'ResourceInitializationError: unable to pull secrets or registry auth: execution resource retrieval failed: unable to retrieve ecr registry auth: service call has been retried 3 time(s): RequestError: send request failed caused by: Post "https://api.ecr.us-east-1.amazonaws.com/": dial tcp 10.0.3.17:443: i/o timeout',
].map(stopped);

/** Starts that fail in the same way each time: the image does not exist, or the caller may not have it. */
export const FINAL_START_FAILURES = [
  `CannotPullContainerError: pull image manifest has been retried 7 time(s): failed to resolve ref ${ECR}/own:1: not found`,
  `CannotPullContainerError: API error (404): repository ${ECR}/own not found`,
  `CannotPullContainerError: pull image manifest has been retried 1 time(s): failed to resolve ref ${ECR}/own:1: unexpected status code: 404 Not Found`,
  `CannotPullContainerError: The task can’t pull the image. Check whether the image exists. Error response from daemon: name unknown: The repository with name 'own' does not exist in the registry with id '111122223333'`,
  'CannotPullContainerError: Error response from daemon: manifest for own:1: manifest unknown',
  "CannotPullContainerError: pull image manifest has been retried 7 time(s): image Manifest does not contain descriptor matching platform 'linux/arm64'",
  `CannotPullContainerError: inspect image has been retried 1 time(s): failed to resolve ref "${ECR}/own:1": unexpected status code [manifests 1]: 403 Forbidden`,
  `CannotPullContainerError: The task can’t pull the image. Check that the role has the permissions to pull images from the registry. Error response from daemon: pull access denied for ${ECR}/own`,
  'CannotPullContainerError: failed to authorize: failed to fetch anonymous token: unexpected status: 401 Unauthorized',
  'ResourceInitializationError: unable to pull secrets or registry auth: unable to retrieve ecr registry auth: api error AccessDeniedException: User is not authorized to perform: ecr:GetAuthorizationToken',
]
  .map(stopped)
  .concat('AccessDeniedException: not authorized to perform: ecs:RunTask');
