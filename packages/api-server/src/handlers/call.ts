/** One request on its way through the pipeline: what was found out about it so far. */
import type { UserInfo } from '../contracts.ts'
import type { ServerRequest } from '../http/exchange.ts'
import type { MediaType, NegotiatedType } from '../http/negotiation.ts'
import type { RequestInfo } from '../http/request-info.ts'
import type { Warnings } from '../http/warnings.ts'
import type { ServedResource } from '../registry/resource-registry.ts'
import type { Deadline } from './limits/deadline.ts'

export interface Call {
  readonly request: ServerRequest
  readonly info: RequestInfo
  readonly user: UserInfo
  readonly warnings: Warnings
  readonly deadline: Deadline
}

/** A call to a resource, after the route was found and the answer's type negotiated. */
export interface ResourceCall extends Call {
  readonly resource: ServedResource
  readonly namespace: string
  readonly name: string
  readonly subresource: string
  readonly output: NegotiatedType
  readonly pretty: boolean
  /** What the events of a watch are written in. Throws 406. */
  streamType(): MediaType
}
