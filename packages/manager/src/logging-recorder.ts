import type { Logger } from '@gyropilot/foundation'
import type { EventRecorder } from '@gyropilot/runtime'

/** Records and logs each event. */
export function loggingRecorder(recorder: EventRecorder, logger: Logger): EventRecorder {
  return {
    record(event) {
      const { regarding, type, reason, message, fieldPath = '' } = event
      const { namespace = '', name = '' } = regarding.metadata ?? {}
      logger.info('Event occurred', {
        object: { namespace, name },
        fieldPath,
        kind: regarding.kind,
        apiVersion: regarding.apiVersion,
        type,
        reason,
        message,
      })
      recorder.record(event)
    },
  }
}
