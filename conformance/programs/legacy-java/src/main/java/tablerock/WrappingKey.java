package tablerock;

import com.google.common.util.concurrent.Futures;
import com.google.common.util.concurrent.ListenableFuture;
import com.microsoft.azure.keyvault.core.IKey;
import java.security.GeneralSecurityException;
import java.security.Key;
import java.security.KeyFactory;
import java.security.interfaces.RSAPrivateCrtKey;
import java.security.spec.PKCS8EncodedKeySpec;
import java.security.spec.RSAPublicKeySpec;
import java.util.Base64;
import javax.crypto.Cipher;
import javax.crypto.spec.SecretKeySpec;
import org.apache.commons.lang3.tuple.Pair;
import org.apache.commons.lang3.tuple.Triple;

/** A key that wraps content keys; the library leaves that to its caller. */
record WrappingKey(String id, String algorithm, String transformation, Key wrapping, Key unwrapping) implements IKey {
    /** A key of {@code aes} with its bytes, or of {@code rsa} with its PKCS #8, both in Base64. */
    static WrappingKey of(String kind, String id, String secret) throws GeneralSecurityException {
        byte[] bytes = Base64.getDecoder().decode(secret);
        if (kind.equals("aes")) {
            Key key = new SecretKeySpec(bytes, "AES");
            return new WrappingKey(id, "A256KW", "AESWrap", key, key);
        }
        KeyFactory factory = KeyFactory.getInstance("RSA");
        RSAPrivateCrtKey key = (RSAPrivateCrtKey) factory.generatePrivate(new PKCS8EncodedKeySpec(bytes));
        Key open = factory.generatePublic(new RSAPublicKeySpec(key.getModulus(), key.getPublicExponent()));
        return new WrappingKey(id, "RSA-OAEP", "RSA/ECB/OAEPWithSHA-1AndMGF1Padding", open, key);
    }

    @Override
    public ListenableFuture<Pair<byte[], String>> wrapKeyAsync(byte[] key, String asked) {
        try {
            Cipher cipher = Cipher.getInstance(transformation);
            cipher.init(Cipher.WRAP_MODE, wrapping);
            return Futures.immediateFuture(Pair.of(cipher.wrap(new SecretKeySpec(key, "AES")), algorithm));
        } catch (GeneralSecurityException failure) {
            return Futures.immediateFailedFuture(failure);
        }
    }

    @Override
    public ListenableFuture<byte[]> unwrapKeyAsync(byte[] wrapped, String asked) {
        Job.check(algorithm.equals(asked), "the key is wrapped with " + asked);
        try {
            Cipher cipher = Cipher.getInstance(transformation);
            cipher.init(Cipher.UNWRAP_MODE, unwrapping);
            return Futures.immediateFuture(cipher.unwrap(wrapped, "AES", Cipher.SECRET_KEY).getEncoded());
        } catch (GeneralSecurityException failure) {
            return Futures.immediateFailedFuture(failure);
        }
    }

    @Override
    public String getKid() {
        return id;
    }

    @Override
    public String getDefaultKeyWrapAlgorithm() {
        return algorithm;
    }

    @Override
    public String getDefaultEncryptionAlgorithm() {
        throw new UnsupportedOperationException();
    }

    @Override
    public String getDefaultSignatureAlgorithm() {
        throw new UnsupportedOperationException();
    }

    @Override
    public ListenableFuture<byte[]> decryptAsync(byte[] text, byte[] iv, byte[] data, byte[] tag, String name) {
        throw new UnsupportedOperationException();
    }

    @Override
    public ListenableFuture<Triple<byte[], byte[], String>> encryptAsync(
            byte[] text, byte[] iv, byte[] data, String name) {
        throw new UnsupportedOperationException();
    }

    @Override
    public ListenableFuture<Pair<byte[], String>> signAsync(byte[] digest, String name) {
        throw new UnsupportedOperationException();
    }

    @Override
    public ListenableFuture<Boolean> verifyAsync(byte[] digest, byte[] signature, String name) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void close() {}
}
