/** What the writes of one request have in common: whom they are for, what is written, and in whose name. */
import { managerName } from '@gyropilot/apply'
import { headerOf } from '../../http/exchange.ts'
import { bodySize, type ParsedBody } from '../../http/request-body.ts'
import type { ResourceCall } from '../call.ts'
import type { PatchType } from './patch.ts'
import type { Target, WriteContext } from './writes.ts'
import type { WriteOptions } from '../options.ts'

/** Of reads and deletes through subresources. */
export const NO_WRITE_OPTIONS: WriteOptions = {
  dryRun: false,
  fieldManager: '',
  fieldValidation: 'Warn',
  force: undefined,
}

/** The manager of the fields that the request writes. */
export function managerOf({ request }: ResourceCall, { fieldManager }: WriteOptions): string {
  const agent = headerOf(request.headers, 'user-agent')
  // Headers are read byte by byte; these are the bytes of a text.
  const text = agent === undefined ? undefined : Buffer.from(agent, 'latin1').toString()
  return managerName(fieldManager, text)
}

export function targetOf({ resource, namespace, name, subresource }: ResourceCall): Target {
  return { resource, namespace, name, subresource }
}

export function writeContextOf(
  call: ResourceCall,
  options: WriteOptions,
  body: ParsedBody | undefined,
  patch?: PatchType,
): WriteContext {
  const { request, user, warnings, deadline } = call
  return {
    user,
    dryRun: options.dryRun,
    options: admissionOptions(call, options),
    manager: managerOf(call, options),
    bodyBytes: body?.bytes.length ?? bodySize(request),
    ...(patch === undefined ? {} : { patch }),
    answersJson: answersJson(call),
    deadline,
    warn: (text) => warnings.add(text),
  }
}

/** The options of the request as admission sees them. */
export function admissionOptions(
  { info }: ResourceCall,
  options: WriteOptions,
): Record<string, unknown> {
  const kind =
    info.verb === 'create'
      ? 'CreateOptions'
      : info.verb === 'update'
        ? 'UpdateOptions'
        : 'PatchOptions'
  return {
    kind,
    apiVersion: 'meta.k8s.io/v1',
    ...(options.dryRun ? { dryRun: ['All'] } : {}),
    ...(options.fieldManager === '' ? {} : { fieldManager: options.fieldManager }),
    ...(info.query.has('fieldValidation') ? { fieldValidation: options.fieldValidation } : {}),
    ...(options.force === undefined ? {} : { force: options.force }),
  }
}

/** Only over the network: who asks within the process gets the object. */
function answersJson({ request, output, pretty, resource }: ResourceCall): boolean {
  return (
    bodySize(request) > 0 &&
    output.mediaType === 'application/json' &&
    output.transformation === undefined &&
    !pretty &&
    resource.storage.fromStored === undefined
  )
}
