/** Between a watch and what carries it to its reader. */
import type { Stored } from '@gyropilot/schema/objects'

/** A watch whose reader leaves this much unread waits for it, and is cut off when that takes long; it continues from its last version. */
export const MOST_UNREAD_BYTES = 8_388_608
/** The initial state of a watch waits for its reader at this much. */
export const COMFORTABLE_BYTES = 1_048_576

export type WatchEventType = 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR'

/** How the object of an event is shown; undefined: it cannot be, and the watch ends. */
export type WatchTransform = (object: Stored, type: WatchEventType) => unknown

/** Where the events of a watch go. `send` is called in the turn of the commit and must not wait. */
export interface WatchSink {
  /** False: the reader is too slow and its buffer is full; the watch ends. */
  send(type: WatchEventType, object: Stored): boolean
  /** Nothing more is to be sent before it is ready. False where `send` says so. */
  isFull(): boolean
  /** Resolves when more can be sent without filling the buffer: between the objects of a large initial state. */
  ready(): Promise<void> | undefined
  end(): void
}

/** A watch that was checked and can start. */
export interface PreparedWatch {
  /** Starts sending; the returned function ends the watch. */
  start(sink: WatchSink): () => void
}
