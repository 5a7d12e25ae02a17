import type { Status, StatusDetails } from '@gyropilot/api'

/** A refusal on its way to the client; becomes a Status. `body` overrides the Status for the few plain-text answers. */
export class ApiError extends Error {
  readonly code: number
  readonly reason: string
  readonly details: StatusDetails | undefined
  readonly headers: Readonly<Record<string, string>>

  constructor(
    code: number,
    reason: string,
    message: string,
    options: { details?: StatusDetails; headers?: Readonly<Record<string, string>> } = {},
  ) {
    super(message)
    this.name = 'ApiError'
    this.code = code
    this.reason = reason
    this.details = options.details
    this.headers = options.headers ?? {}
  }

  toStatus(): Status {
    return {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: this.message,
      ...(this.reason === '' ? {} : { reason: this.reason }),
      ...(this.details === undefined ? {} : { details: this.details }),
      code: this.code,
    }
  }
}

export function badRequest(message: string): ApiError {
  return new ApiError(400, 'BadRequest', message)
}
