import type { ClusterTrustBundle } from '@gyropilot/api'
import { trustAnchors } from '@gyropilot/foundation/x509'
import type { KindRules, Stored, StoredOf } from '../../registry/kind-rules.ts'
import type { FieldErrors } from '@gyropilot/schema/field-errors'
import { withPrefix } from '@gyropilot/schema/validation/metadata'
import { dnsSubdomain } from '@gyropilot/schema/validation/names'
import { column, nameColumn } from '../columns.ts'
import { validateSignerName } from './signer-name.ts'

const LIMIT_BYTES = 1_048_576
/** Whom somebody trusts is nobody else's business: refusals do not repeat it. */
const OMITTED = '<value omitted>'

/** Served with gate ClusterTrustBundle. Contract: docs/behaviour/api-server/defaulting-and-validation.md, "ClusterTrustBundle". */
export const clusterTrustBundle: KindRules<ClusterTrustBundle> = {
  group: 'certificates.k8s.io',
  kind: 'ClusterTrustBundle',
  generationOf: null,
  unconditionalUpdate: false,
  name: nameCheck,
  validate(object, errors) {
    const { signerName, trustBundle } = object.spec ?? {}
    if (signerName) validateSignerName(signerName, errors)
    validateAnchors(trustBundle ?? '', errors)
  },
  validateUpdate(object, stored, errors) {
    const signerName = signerOf(object)
    if (signerName !== signerOf(stored))
      errors.invalid('spec.signerName', signerName, 'field is immutable')
  },
  selectableFields: { 'spec.signerName': signerOf },
  columns: [
    nameColumn,
    column(
      'SignerName',
      'string',
      "signerName indicates the associated signer, if any.\n\nIn order to create or update a ClusterTrustBundle that sets signerName, you must have the following cluster-scoped permission: group=certificates.k8s.io resource=signers resourceName=<the signer name> verb=attest.\n\nIf signerName is not empty, then the ClusterTrustBundle object must be named with the signer name as a prefix (translating slashes to colons). For example, for the signer name `example.com/foo`, valid ClusterTrustBundle object names include `example.com:foo:abc` and `example.com:foo:v1`.\n\nIf signerName is empty, then the ClusterTrustBundle object's name must not have such a prefix.\n\nList/watch requests for ClusterTrustBundles can filter on this field using a `spec.signerName=NAME` field selector.",
      (object) => signerOf(object) || '<none>',
    ),
  ],
}

const subdomain = withPrefix(dnsSubdomain)

function signerOf(object: StoredOf<ClusterTrustBundle>): string {
  return object.spec?.signerName ?? ''
}

/** The signer, with colons for its slashes, begins the name of its bundles, and of no other. */
function nameCheck(name: string, generated: boolean, object: Stored): readonly string[] {
  const signerName: string = object['spec']?.signerName ?? ''
  if (signerName === '') {
    return name.includes(':')
      ? ['ClusterTrustBundle without signer name must not have ":" in its name']
      : subdomain(name, generated, object)
  }
  const prefix = `${signerName.replaceAll('/', ':')}:`
  return name.startsWith(prefix)
    ? subdomain(name.slice(prefix.length), generated, object)
    : [`ClusterTrustBundle for signerName ${signerName} must be named with prefix ${prefix}`]
}

function validateAnchors(trustBundle: string, errors: FieldErrors): void {
  const at = 'spec.trustBundle'
  if (Buffer.byteLength(trustBundle) > LIMIT_BYTES) {
    errors.tooLong(at, LIMIT_BYTES)
    return
  }
  const { anchors, problems } = trustAnchors(trustBundle)
  for (const problem of problems) errors.invalid(at, OMITTED, problem)
  if (problems.length > 0) return
  if (anchors.length === 0)
    errors.invalid(at, OMITTED, 'at least one trust anchor must be provided')
  for (const indices of repeated(anchors))
    errors.invalid(at, OMITTED, `duplicate trust anchor (indices [${indices.join(' ')}])`)
}

/** The places of each that is there more than once. */
function repeated(anchors: readonly string[]): readonly (readonly number[])[] {
  const places = new Map<string, number[]>()
  for (const [index, anchor] of anchors.entries()) {
    const known = places.get(anchor)
    if (known === undefined) places.set(anchor, [index])
    else known.push(index)
  }
  return [...places.values()].filter(({ length }) => length > 1)
}
