import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { CodedError } from '#contract/values/errors.ts';
import type { WakeUp, WebhookWaker } from '#domain/webhooks/webhook-ports.ts';
import { signedCall } from './signed-call.ts';

/** Longest delay of a message. One that is to arrive later is sent again until it is due. */
const MAX_DELAY_S = 900;

/** Queue of the function that delivers to webhooks. */
export class WebhookQueue implements WebhookWaker {
  readonly #url: string;
  readonly #client: DynamoDBDocumentClient;

  /** @param client its region and credentials are used */
  constructor(url: string, client: DynamoDBDocumentClient) {
    this.#url = url;
    this.#client = client;
  }

  /** Throws DATA005. */
  wake(webhookId: string): Promise<void> {
    return this.wakeAt(webhookId, Date.now()).catch((error) => {
      throw new CodedError('DATA005', {
        message: 'The queue of webhooks does not respond: retry the request',
        cause: error,
      });
    });
  }

  /** Sends a message that arrives at a time, Unix ms, or 15 minutes from now if that is earlier. */
  async wakeAt(webhook_id: string, at: number): Promise<void> {
    const delay = Math.ceil((at - Date.now()) / 1_000);
    const message: WakeUp = { webhook_id, at };
    await signedCall(this.#client, new URL('/', this.#url), {
      service: 'sqs',
      target: 'AmazonSQS.SendMessage',
      version: '1.0',
      body: JSON.stringify({
        QueueUrl: this.#url,
        MessageBody: JSON.stringify(message),
        DelaySeconds: Math.min(Math.max(delay, 0), MAX_DELAY_S),
      }),
    });
  }
}
