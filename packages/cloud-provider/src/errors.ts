/**
 * What a provider throws to be understood. Known by their kind, also inside other errors (`cause`, AggregateError), and never
 * by their text: `throw new Error('asking exoplanet for i-123', { cause: new InstanceNotFound() })` is one.
 */

/** The machine is not there. */
export class InstanceNotFound extends Error {
  constructor(message = 'instance not found', options?: ErrorOptions) {
    super(message, options)
    this.name = 'InstanceNotFound'
  }
}

/** The cloud has no such thing as was asked for. */
export class NotImplemented extends Error {
  constructor(message = 'unimplemented', options?: ErrorOptions) {
    super(message, options)
    this.name = 'NotImplemented'
  }
}

/** Somebody else sees to this load balancer. */
export class ImplementedElsewhere extends Error {
  constructor(message = 'implemented by alternate to cloud provider', options?: ErrorOptions) {
    super(message, options)
    this.name = 'ImplementedElsewhere'
  }
}

/** The disk is not there. */
export class DiskNotFound extends Error {
  constructor(message = 'disk is not found', options?: ErrorOptions) {
    super(message, options)
    this.name = 'DiskNotFound'
  }
}

/** It did not work out and is to be tried again after a time that the provider knows best. */
export class RetryLater extends Error {
  readonly retryAfterMs: number

  constructor(message: string, retryAfterMs: number, options?: ErrorOptions) {
    super(message, options)
    this.name = 'RetryLater'
    this.retryAfterMs = retryAfterMs
  }
}

/** The first error of this kind in an error and in what it wraps, from the outside inwards. */
export function errorOfKind<E extends Error>(
  error: unknown,
  kind: abstract new (...parameters: never[]) => E,
): E | undefined {
  const seen = new Set<unknown>()
  const pending: unknown[] = [error]
  while (pending.length > 0) {
    const next = pending.shift()
    if (!(next instanceof Error) || seen.has(next)) continue
    if (next instanceof kind) return next
    seen.add(next)
    pending.push(next.cause)
    if (next instanceof AggregateError) pending.push(...(next.errors as unknown[]))
  }
  return undefined
}
