/** What a handler answers, before anybody decided whether it becomes bytes. */
import type { Duplex } from 'node:stream'
import type { MediaType } from './negotiation.ts'
import type { PreparedWatch, WatchTransform } from './watch-sink.ts'
import type { Stored } from '@gyropilot/schema/objects'
import type { ConnectionTarget } from '../kubelets/connection-target.ts'

export interface Tunnel {
  /** Of the other server's answer. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly peer: Duplex
  /** What it has sent behind them already. */
  readonly head: Uint8Array
}

export type AnswerBody =
  /** One JSON value. `stored`: it is frozen and shared, its encoding is worth keeping. */
  | { readonly kind: 'object'; readonly value: unknown; readonly stored?: boolean }
  | {
      readonly kind: 'list'
      /** kind, apiVersion, metadata. */
      readonly head: Readonly<Record<string, unknown>>
      /** Frozen objects with kind and apiVersion. */
      readonly items: readonly Stored[]
      /** True: items are written with their kind and apiVersion (custom resources). */
      readonly selfDescribing: boolean
    }
  | {
      readonly kind: 'watch'
      readonly watch: PreparedWatch
      readonly transform: WatchTransform | undefined
    }
  | {
      readonly kind: 'bytes'
      readonly bytes: Uint8Array
      readonly contentType: string
      /** For whoever weighs gzip above nothing, however short it is; false: never. Absent: when it is long. */
      readonly compressible?: boolean
    }
  | {
      readonly kind: 'stream'
      readonly chunks: AsyncIterable<Uint8Array>
      /** Absent: whoever it comes from has not said. */
      readonly contentType?: string
    }
  /** Only for requests that ask for an upgrade. */
  | { readonly kind: 'connection'; readonly target: ConnectionTarget }
  /** Only for those too: another server has switched protocols, and what is to come is between the two. */
  | { readonly kind: 'tunnel'; readonly tunnel: Tunnel }
  | { readonly kind: 'empty' }

export interface Answer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string | readonly string[]>>
  readonly body: AnswerBody
  /** Form of objects, lists and the events of a watch. Default `application/json`. */
  readonly mediaType?: MediaType
  /** Overrides the content type written for `mediaType`: aggregated discovery repeats its parameters. */
  readonly contentType?: string
  readonly pretty?: boolean
  /** Told how long the body is, before compression, when it goes out over the network. */
  readonly sent?: (bytes: number) => void
}

export function text(
  status: number,
  content: string,
  headers?: Readonly<Record<string, string>>,
): Answer {
  return {
    status,
    headers,
    body: { kind: 'bytes', bytes: Buffer.from(content), contentType: 'text/plain; charset=utf-8' },
  }
}

/** Undefined when there is no body. */
export function contentTypeOf({ body, mediaType, contentType }: Answer): string | undefined {
  if (body.kind === 'object' || body.kind === 'list')
    return contentType ?? mediaType ?? 'application/json'
  return 'contentType' in body ? body.contentType : undefined
}

/** What another server would have to answer, which cannot be asked. */
export function unavailable(): Answer {
  return text(503, 'service unavailable\n', { 'x-content-type-options': 'nosniff' })
}
