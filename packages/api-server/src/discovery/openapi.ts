/** OpenAPI documents. Contract: docs/behaviour/api-server/requests.md, "Other endpoints". */
import type { Answer } from '../http/answer.ts'
import type { ServerRequest } from '../http/exchange.ts'

export class OpenApiDocuments {
  answer(_request: ServerRequest, _path: string, _query: URLSearchParams): Answer | undefined {
    return undefined
  }
}
