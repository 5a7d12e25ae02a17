import { once } from 'node:events';
import https from 'node:https';

const METADATA = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io';

/**
 * When the objects of each namespace last changed, from one watch of each kind: to list all kinds again and again until nothing changes
 * was half of what the play of the scenarios cost.
 */
export class NamespaceChanges {
  #options; #nowMs; #namespaceOf; #requests = new Map(); #changedMs = new Map();

  /** `options`: of requests to the server; `namespaceOf(object)`: also of one that is in no namespace. */
  constructor({ options, nowMs, namespaceOf }) {
    this.#options = { ...options, agent: new https.Agent({ rejectUnauthorized: false }) };
    this.#nowMs = nowMs; this.#namespaceOf = namespaceOf;
  }

  /** Resolves when changes are followed; a collection that is not served has none. Whole objects are read where `whole` says so. */
  async follow(path, { whole = false } = {}) {
    const request = https.request({ ...this.#options, path: `${path}?watch=true`, headers: { ...this.#options.headers, accept: whole ? 'application/json' : METADATA } });
    this.#requests.set(path, request);
    request.end();
    const [response] = await once(request, 'response');
    if (response.statusCode !== 200) { response.resume(); if (response.statusCode === 404) return; throw new Error(`watch of ${path}: ${response.statusCode}`); }
    void this.#read(path, response.setEncoding('utf8'), whole);
  }

  /** 0 when nothing was seen of it yet. */
  lastMs(namespace) { return this.#changedMs.get(namespace) ?? 0; }

  stop() { const requests = [...this.#requests.values()]; this.#requests.clear(); for (const request of requests) request.destroy(); }

  async #read(path, chunks, whole) {
    let rest = '';
    try {
      for await (const chunk of chunks) {
        const lines = (rest + chunk).split('\n'); rest = lines.pop();
        for (const line of lines) { const { type, object } = JSON.parse(line); if (type !== 'ERROR') this.#changedMs.set(this.#namespaceOf(object), this.#nowMs()); }
      }
    } catch (error) { if (this.#requests.has(path)) console.error(`watch of ${path}: ${error}`); }
    // Servers end their watches; a new one begins with all objects, which counts as a change.
    if (this.#requests.has(path)) await this.follow(path, { whole });
  }
}
