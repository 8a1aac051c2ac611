import { unmarshall } from '@aws-sdk/util-dynamodb';
import type { TableChange } from '#domain/events/event-of-change.ts';

type Attributes = Parameters<typeof unmarshall>[0];

/** Record of a table's stream, as DynamoDB Streams and EventBridge Pipes send it. */
export interface StreamRecord {
  readonly dynamodb: {
    readonly Keys: Attributes;
    /** Absent for a deleted item. */
    readonly NewImage?: Attributes;
    /** Absent for a new item. */
    readonly OldImage?: Attributes;
    readonly SequenceNumber: string;
    /** Unix seconds. */
    readonly ApproximateCreationDateTime: number;
  };
}

export function changeOf({ dynamodb }: StreamRecord): TableChange {
  const { Keys, NewImage, OldImage, ApproximateCreationDateTime } = dynamodb;
  return {
    keys: unmarshall(Keys),
    before: OldImage && unmarshall(OldImage, { wrapNumbers: Number }),
    after: NewImage && unmarshall(NewImage, { wrapNumbers: Number }),
    at: ApproximateCreationDateTime * 1_000,
  };
}
