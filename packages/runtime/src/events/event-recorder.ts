import type { EventRecord } from '../effects.ts'

/** Records events under one source component. Never blocks, never throws; what cannot be written is logged and dropped. */
export interface EventRecorder {
  record(event: EventRecord): void
}
