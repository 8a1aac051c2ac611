import type { StoredApproval } from '#contract/registry/stored-approval.ts';
import type { StoredModel } from '#contract/registry/stored-registry.ts';
import type { Page } from '../ports.ts';
import type { IdempotencyKey, IdempotencyRecord, TransitionStore } from './apply-transition.ts';

/** End of a request for approval. It is stored only while the request is open. */
export interface ApprovalChange {
  readonly approval_id: string;
  readonly set: Pick<
    StoredApproval,
    'status' | 'decided_by' | 'decided_at' | 'decision_reason' | 'written_at'
  >;
}

/** A new request, or the end of one without its transition, with the model's list of open requests. One transaction. */
export interface ApprovalWrite {
  /** The model as it was read: the write requires that no transition and no other request came in between. */
  readonly model: StoredModel;
  readonly openApprovals: StoredModel['open_approvals'];
  readonly created: StoredApproval | null;
  readonly changes: readonly ApprovalChange[];
}

/** Position of a list: the ID of its last request. IDs are ULIDs, so lists are in the order of the requests. */
export interface ApprovalListing {
  readonly limit: number;
  readonly cursor: string | null;
  readonly passes: (approval: StoredApproval) => boolean;
}

/** Requests for approval. Reads are strongly consistent. */
export interface ApprovalStore extends TransitionStore<ApprovalWrite> {
  read(id: string): Promise<StoredApproval | undefined>;
  /** The request, and what is stored under a key. */
  find(
    id: string,
    key: IdempotencyKey | null,
  ): Promise<{
    readonly approval: StoredApproval | undefined;
    readonly idempotencyRecord: IdempotencyRecord | undefined;
  }>;
  /** A page of a model's requests that pass, newest first. It reads up to 1,000. Throws VAL006 for a broken cursor. */
  ofModel(model: string, listing: ApprovalListing): Promise<Page<StoredApproval>>;
  /** Requests of all models below an ID (null: all), newest first. */
  rows(below: string | null): AsyncIterable<StoredApproval>;
  /** Ends a request without its model: true when it was still open. */
  end(change: ApprovalChange): Promise<boolean>;
}
