import type { CertificateSigningRequest } from '@gyropilot/api'
import { errorText } from '@gyropilot/foundation'
import { parseSigningRequest } from '@gyropilot/foundation/x509'
import type { SigningRequest } from '@gyropilot/foundation/x509'

type Parsed =
  | { readonly ok: true; readonly request: SigningRequest }
  | { readonly ok: false; readonly error: Error }

/** What stands in `spec.request`. */
export function requestOf({ metadata, spec }: CertificateSigningRequest): Parsed {
  try {
    const pem = Buffer.from(spec.request, 'base64').toString('latin1')
    return { ok: true, request: parseSigningRequest(pem) }
  } catch (cause) {
    const text = `unable to parse csr ${JSON.stringify(metadata?.name ?? '')}: ${errorText(cause)}`
    return { ok: false, error: new Error(text, { cause }) }
  }
}
