// Search where pages are read from a folder: a browser starts no Worker there. The script runs in a
// hidden frame instead, with the two calls of a Worker that search uses.
if (location.protocol === "file:") {
    window.Worker = class extends EventTarget {
        constructor(script) {
            super();
            const frame = document.createElement("iframe");
            frame.hidden = true;
            document.body.append(frame);
            const inner = frame.contentWindow;
            this.ready = new Promise(done => {
                inner.postMessage = data => this.tell(data);
                inner.importScripts = (...urls) => Promise.all(urls.map(url => load(inner, url)));
                load(inner, script).then(() => done(inner));
            });
        }
        tell(data) {
            const event = new MessageEvent("message", { data });
            this.dispatchEvent(event);
            if (this.onmessage) this.onmessage(event);
        }
        postMessage(data) {
            this.ready.then(inner => inner.dispatchEvent(new inner.MessageEvent("message", { data })));
        }
        terminate() {}
    };
}
function load(inner, url) {
    return new Promise((done, failed) => {
        const script = inner.document.createElement("script");
        Object.assign(script, { src: url, onload: done, onerror: failed });
        inner.document.body.append(script);
    });
}
