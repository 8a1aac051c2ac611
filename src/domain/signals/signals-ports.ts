import type { StoredSignals } from '#contract/market-data/stored-signals.ts';
import type { StoredSharing } from '../access/access.ts';

/** Position in a list of files, and a file. */
export interface ListedSignals {
  readonly position: string;
  readonly signals: StoredSignals;
}

/** Records of uploaded files. Every method may throw DATA005. */
export interface SignalsStore {
  /** Owners and grants. */
  readonly sharing: StoredSharing;
  /** Stores a new record; returns the one with its ID that is stored already, if any. */
  create(signals: StoredSignals): Promise<StoredSignals>;
  /** Strongly consistent; undefined for an unknown ID and for a file that is being deleted. */
  find(id: string): Promise<StoredSignals | undefined>;
  /** Files of an owner after a position, newest first. */
  list(owner: string, after: string | undefined, limit: number): Promise<readonly ListedSignals[]>;
  /** Number of files of an owner, at most `max`. */
  count(owner: string, max: number): Promise<number>;
  /** Records a submission. False: the file is gone. */
  use(id: string, at: string): Promise<boolean>;
  /** Marks the file for a registration that is about to store a version with it. False: the file is gone. */
  keep(id: string, model: string, at: string): Promise<boolean>;
  /** Marks the file as being deleted, if no job, registration or grant took it since `signals` was read. False: one did. */
  beginDeletion(signals: StoredSignals, at: string): Promise<boolean>;
  /** Removes the record. Repeats are harmless. */
  remove(id: string): Promise<void>;
  /** Files of all owners after a position, oldest first, also those that are being deleted. */
  oldest(after: string, limit: number): Promise<readonly ListedSignals[]>;
}

/** Address and headers for the upload of a file. */
export interface UploadAddress {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly expires_at: string;
}

/** Uploaded files. Only the bytes of a record can be stored for it. Every method may throw DATA005. */
export interface SignalFiles {
  /** Address that accepts exactly the bytes of the record, for a few minutes. */
  offer(signals: StoredSignals): Promise<UploadAddress>;
  isUploaded(id: string): Promise<boolean>;
  /** Repeats are harmless. */
  remove(id: string): Promise<void>;
}
